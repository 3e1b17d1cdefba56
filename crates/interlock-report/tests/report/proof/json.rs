//! A proof as JSON.

use expect_test::expect;
use interlock_report::proof::{self, json};

use super::sample::{broken, busy, held, hostile, loose, lost_entity, mixed, nothing, uneven, unknown};

#[test]
fn how_a_server_was_kept_apart_is_read_back() {
    let report = loose();
    let text = json::write(&report);
    let (before_sets, _) = text.split_once("\"sets\"").expect("sets");
    assert!(before_sets.contains(r#""files": "open""#) && before_sets.contains("is gone"), "{before_sets}");
    assert_eq!(json::read(&text).expect("it is read").isolation, report.isolation);
}

#[test]
fn a_report_says_everything() {
    expect![[r#"
        {
          "version": 1,
          "verdict": "broken",
          "target": "node dist/index.js",
          "isolation": {
            "folders": "elsewhere",
            "files": "open",
            "network": "open",
            "said": [],
            "changed_outside": []
          },
          "took_ns": 1840000000,
          "explored": {
            "calls": 276,
            "trials": 61,
            "techniques": [
              "one-write"
            ],
            "schedules": 20,
            "walked_ns": 420000000,
            "exhausted": false
          },
          "sets": [
            {
              "name": "add_observations + read_graph",
              "hazard": null,
              "calls": [
                {
                  "tool": "add_observations",
                  "arguments": {}
                },
                {
                  "tool": "read_graph",
                  "arguments": {}
                }
              ],
              "verdict": "held",
              "reason": "every outcome is one of the 2 that serial runs lead to",
              "explored": {
                "calls": 240,
                "trials": 60,
                "techniques": [
                  "one-write",
                  "one-write + node-order",
                  "one-write + offsets"
                ],
                "schedules": 20,
                "walked_ns": 420000000,
                "exhausted": true
              },
              "evidence": null
            },
            {
              "name": "create_entities + create_entities",
              "hazard": "lost-update",
              "calls": [
                {
                  "tool": "create_entities",
                  "arguments": {
                    "entities": [
                      {
                        "entityType": "person",
                        "name": "ada",
                        "observations": [
                          "ada was here"
                        ]
                      }
                    ]
                  }
                },
                {
                  "tool": "create_entities",
                  "arguments": {
                    "entities": [
                      {
                        "entityType": "person",
                        "name": "bob",
                        "observations": [
                          "bob was here"
                        ]
                      }
                    ]
                  }
                }
              ],
              "reads": [
                {
                  "tool": "read_graph",
                  "arguments": {}
                }
              ],
              "verdict": "broken",
              "reason": "both calls succeed, and one of the entities is gone",
              "explored": {
                "calls": 34,
                "trials": 1,
                "techniques": [
                  "one-write"
                ],
                "schedules": 0,
                "walked_ns": 0,
                "exhausted": false
              },
              "evidence": {
                "history": {
                  "calls": [
                    {
                      "tool": "create_entities",
                      "arguments": {
                        "entities": [
                          {
                            "entityType": "person",
                            "name": "ada",
                            "observations": [
                              "ada was here"
                            ]
                          }
                        ]
                      },
                      "sent_ns": 0,
                      "answer": {
                        "kind": "result",
                        "at_ns": 3104000,
                        "value": {
                          "content": [
                            {
                              "text": "{\n  \"entities\": [\n    {\n      \"entityType\": \"person\",\n      \"name\": \"ada\",\n      \"observations\": [\n        \"ada was here\"\n      ]\n    }\n  ]\n}",
                              "type": "text"
                            }
                          ],
                          "structuredContent": {
                            "entities": [
                              {
                                "entityType": "person",
                                "name": "ada",
                                "observations": [
                                  "ada was here"
                                ]
                              }
                            ]
                          }
                        }
                      }
                    },
                    {
                      "tool": "create_entities",
                      "arguments": {
                        "entities": [
                          {
                            "entityType": "person",
                            "name": "bob",
                            "observations": [
                              "bob was here"
                            ]
                          }
                        ]
                      },
                      "sent_ns": 0,
                      "answer": {
                        "kind": "result",
                        "at_ns": 4206000,
                        "value": {
                          "content": [
                            {
                              "text": "{\n  \"entities\": [\n    {\n      \"entityType\": \"person\",\n      \"name\": \"bob\",\n      \"observations\": [\n        \"bob was here\"\n      ]\n    }\n  ]\n}",
                              "type": "text"
                            }
                          ],
                          "structuredContent": {
                            "entities": [
                              {
                                "entityType": "person",
                                "name": "bob",
                                "observations": [
                                  "bob was here"
                                ]
                              }
                            ]
                          }
                        }
                      }
                    }
                  ],
                  "ticks": [
                    {
                      "call": 0,
                      "at_ns": 310000,
                      "kind": "read",
                      "on": "readFile memory.jsonl"
                    },
                    {
                      "call": 1,
                      "at_ns": 350000,
                      "kind": "read",
                      "on": "readFile memory.jsonl"
                    },
                    {
                      "call": 0,
                      "at_ns": 1420000,
                      "kind": "write",
                      "on": "writeFile memory.jsonl"
                    },
                    {
                      "call": 1,
                      "at_ns": 2980000,
                      "kind": "write",
                      "on": "writeFile memory.jsonl"
                    }
                  ]
                },
                "schedule": {
                  "delivery": "one-write"
                },
                "observed": {
                  "answers": [
                    {
                      "result": {
                        "content": [
                          {
                            "text": "{\n  \"entities\": [\n    {\n      \"entityType\": \"person\",\n      \"name\": \"ada\",\n      \"observations\": [\n        \"ada was here\"\n      ]\n    }\n  ]\n}",
                            "type": "text"
                          }
                        ],
                        "structuredContent": {
                          "entities": [
                            {
                              "entityType": "person",
                              "name": "ada",
                              "observations": [
                                "ada was here"
                              ]
                            }
                          ]
                        }
                      }
                    },
                    {
                      "result": {
                        "content": [
                          {
                            "text": "{\n  \"entities\": [\n    {\n      \"entityType\": \"person\",\n      \"name\": \"bob\",\n      \"observations\": [\n        \"bob was here\"\n      ]\n    }\n  ]\n}",
                            "type": "text"
                          }
                        ],
                        "structuredContent": {
                          "entities": [
                            {
                              "entityType": "person",
                              "name": "bob",
                              "observations": [
                                "bob was here"
                              ]
                            }
                          ]
                        }
                      }
                    }
                  ],
                  "reads": [
                    {
                      "result": {
                        "content": [
                          {
                            "text": "{\n  \"entities\": [\n    {\n      \"entityType\": \"person\",\n      \"name\": \"bob\",\n      \"observations\": [\n        \"bob was here\"\n      ]\n    }\n  ],\n  \"relations\": []\n}",
                            "type": "text"
                          }
                        ],
                        "structuredContent": {
                          "entities": [
                            {
                              "entityType": "person",
                              "name": "bob",
                              "observations": [
                                "bob was here"
                              ]
                            }
                          ],
                          "relations": []
                        }
                      }
                    }
                  ]
                },
                "legal": [
                  {
                    "orders": [
                      [
                        0,
                        1
                      ]
                    ],
                    "outcome": {
                      "answers": [
                        {
                          "result": {
                            "content": [
                              {
                                "text": "{\n  \"entities\": [\n    {\n      \"entityType\": \"person\",\n      \"name\": \"ada\",\n      \"observations\": [\n        \"ada was here\"\n      ]\n    }\n  ]\n}",
                                "type": "text"
                              }
                            ],
                            "structuredContent": {
                              "entities": [
                                {
                                  "entityType": "person",
                                  "name": "ada",
                                  "observations": [
                                    "ada was here"
                                  ]
                                }
                              ]
                            }
                          }
                        },
                        {
                          "result": {
                            "content": [
                              {
                                "text": "{\n  \"entities\": [\n    {\n      \"entityType\": \"person\",\n      \"name\": \"bob\",\n      \"observations\": [\n        \"bob was here\"\n      ]\n    }\n  ]\n}",
                                "type": "text"
                              }
                            ],
                            "structuredContent": {
                              "entities": [
                                {
                                  "entityType": "person",
                                  "name": "bob",
                                  "observations": [
                                    "bob was here"
                                  ]
                                }
                              ]
                            }
                          }
                        }
                      ],
                      "reads": [
                        {
                          "result": {
                            "content": [
                              {
                                "text": "{\n  \"entities\": [\n    {\n      \"entityType\": \"person\",\n      \"name\": \"ada\",\n      \"observations\": [\n        \"ada was here\"\n      ]\n    },\n    {\n      \"entityType\": \"person\",\n      \"name\": \"bob\",\n      \"observations\": [\n        \"bob was here\"\n      ]\n    }\n  ],\n  \"relations\": []\n}",
                                "type": "text"
                              }
                            ],
                            "structuredContent": {
                              "entities": [
                                {
                                  "entityType": "person",
                                  "name": "ada",
                                  "observations": [
                                    "ada was here"
                                  ]
                                },
                                {
                                  "entityType": "person",
                                  "name": "bob",
                                  "observations": [
                                    "bob was here"
                                  ]
                                }
                              ],
                              "relations": []
                            }
                          }
                        }
                      ]
                    }
                  },
                  {
                    "orders": [
                      [
                        1,
                        0
                      ]
                    ],
                    "outcome": {
                      "answers": [
                        {
                          "result": {
                            "content": [
                              {
                                "text": "{\n  \"entities\": [\n    {\n      \"entityType\": \"person\",\n      \"name\": \"ada\",\n      \"observations\": [\n        \"ada was here\"\n      ]\n    }\n  ]\n}",
                                "type": "text"
                              }
                            ],
                            "structuredContent": {
                              "entities": [
                                {
                                  "entityType": "person",
                                  "name": "ada",
                                  "observations": [
                                    "ada was here"
                                  ]
                                }
                              ]
                            }
                          }
                        },
                        {
                          "result": {
                            "content": [
                              {
                                "text": "{\n  \"entities\": [\n    {\n      \"entityType\": \"person\",\n      \"name\": \"bob\",\n      \"observations\": [\n        \"bob was here\"\n      ]\n    }\n  ]\n}",
                                "type": "text"
                              }
                            ],
                            "structuredContent": {
                              "entities": [
                                {
                                  "entityType": "person",
                                  "name": "bob",
                                  "observations": [
                                    "bob was here"
                                  ]
                                }
                              ]
                            }
                          }
                        }
                      ],
                      "reads": [
                        {
                          "result": {
                            "content": [
                              {
                                "text": "{\n  \"entities\": [\n    {\n      \"entityType\": \"person\",\n      \"name\": \"bob\",\n      \"observations\": [\n        \"bob was here\"\n      ]\n    },\n    {\n      \"entityType\": \"person\",\n      \"name\": \"ada\",\n      \"observations\": [\n        \"ada was here\"\n      ]\n    }\n  ],\n  \"relations\": []\n}",
                                "type": "text"
                              }
                            ],
                            "structuredContent": {
                              "entities": [
                                {
                                  "entityType": "person",
                                  "name": "bob",
                                  "observations": [
                                    "bob was here"
                                  ]
                                },
                                {
                                  "entityType": "person",
                                  "name": "ada",
                                  "observations": [
                                    "ada was here"
                                  ]
                                }
                              ],
                              "relations": []
                            }
                          }
                        }
                      ]
                    }
                  }
                ],
                "violated": [],
                "stale": {
                  "call": 1,
                  "from_ns": 350000,
                  "to_ns": 2980000
                },
                "again": {
                  "times": 20,
                  "runs": 20
                },
                "replay": "replay/create_entities.json"
              }
            },
            {
              "name": "delete_entities + delete_entities",
              "hazard": null,
              "calls": [
                {
                  "tool": "delete_entities",
                  "arguments": {}
                },
                {
                  "tool": "delete_entities",
                  "arguments": {}
                }
              ],
              "verdict": "unknown",
              "reason": "the server exited with status 1 before it answered",
              "explored": {
                "calls": 2,
                "trials": 0,
                "techniques": [],
                "schedules": 0,
                "walked_ns": 0,
                "exhausted": false
              },
              "evidence": null
            }
          ],
          "notes": [
            "slow-files: not tried, the program is linked statically",
            "delete_all was not called"
          ]
        }
    "#]].assert_eq(&json::write(&mixed()));
}

#[test]
fn every_report_reads_back_as_it_was() {
    let mut odd = broken();
    odd.sets = vec![busy(), uneven()];
    for report in [mixed(), broken(), held(), unknown(), nothing(), odd] {
        assert_eq!(json::read(&json::write(&report)).unwrap(), report);
    }
}

#[test]
fn a_hostile_report_acts_on_nothing_and_reads_back() {
    let mut report = hostile();
    let written = json::write(&report);
    assert!(!written.contains(|c: char| c != '\n' && c.is_control()), "{written}");
    // Times end after five centuries.
    let longest = std::time::Duration::from_nanos(u64::MAX);
    report.took = longest;
    report.sets[0].evidence.as_mut().unwrap().stale.as_mut().unwrap().from = longest;
    assert_eq!(json::read(&written).unwrap(), report);
}

#[test]
fn what_is_no_report_is_refused_with_words() {
    let said = |text: &str| {
        let error = json::read(text).unwrap_err();
        // Where it goes wrong depends on the order of the keys, which another build may keep.
        let source = std::error::Error::source(&error).map(|source| format!(": {source}"));
        format!(
            "{error}{}",
            source.as_deref().and_then(|said| said.split(" at line ").next()).unwrap_or_default()
        )
    };
    let written = json::write(&mixed());
    let refused = [
        said(""),
        said("[]"),
        said("{\"version\": 2}"),
        said("{\"version\": 1}"),
        said(&written.replace("\"broken\"", "\"fine\"")),
        said(&written.replace("\"lost-update\"", "\"Lost Update\"")),
        said(&format!("{{\"version\": 1, \"target\": {}", "[".repeat(10_000))),
    ];
    expect![[r#"
        not a report of `interlock prove --format json`: EOF while parsing a value
        not a report of `interlock prove --format json`: invalid length 0, expected an object with a version
        version 2 of the report is not known here; this release reads version 1
        not a report of `interlock prove --format json`: missing field `verdict`
        not a report of `interlock prove --format json`: `fine` is none of held, unknown, latent, broken
        not a report of `interlock prove --format json`: `Lost Update` is not a hazard name: lower-case words joined by single hyphens, such as `lost-update`
        not a report of `interlock prove --format json`: EOF while parsing a list"#]].assert_eq(&refused.join("\n"));
}

#[test]
fn a_finding_carries_the_verdict_and_the_replay_of_a_set() {
    let proof = proof::of(&lost_entity());
    assert_eq!(proof.verdict, interlock_model::Verdict::Broken);
    assert_eq!(proof.replay.as_deref(), Some("replay/create_entities.json"));
    assert_eq!(proof.explored.calls, 34);
}
