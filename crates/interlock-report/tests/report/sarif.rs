//! SARIF, judged by the official schema.
//!
//! The schema is the one of OASIS (<https://docs.oasis-open.org/sarif/sarif/v2.1.0/>). It is not part of this repository: the crate
//! `serde-sarif`, which is pinned in the lock file, carries it among its sources, and that is where it is read from.

use std::{fs, path::Path, process::Command};

use cargo_metadata::MetadataCommand;
use expect_test::expect;
use interlock_model::Report;
use interlock_report::sarif::write;
use serde_json::Value;

use crate::{
    hostile::hostile,
    sample::{lock_not_released, nothing, rules, two_findings},
};

fn schema() -> Value {
    // Only what this machine builds with: the rest of the lock file may never have been downloaded.
    let about = Command::new(env!("CARGO")).arg("-vV").output().unwrap();
    let about = String::from_utf8(about.stdout).unwrap();
    let host = about.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let metadata = MetadataCommand::new()
        .manifest_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
        .other_options(["--locked", "--filter-platform", host].map(str::to_owned))
        .exec()
        .unwrap();
    let carrier = metadata.packages.iter().find(|package| package.name == "serde-sarif").unwrap();
    let path = carrier.manifest_path.with_file_name("src").join("schema.json");
    let mut schema: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(schema["title"], "Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema");
    // The pattern of a language tag has a bracket too many, which a strict reader of regular expressions refuses. We write none.
    for part in ["run", "toolComponent"] {
        schema["definitions"][part]["properties"]["language"] = Value::Bool(false);
    }
    schema
}

/// What the schema has against a text.
fn complaints(schema: &Value, text: &str) -> Vec<String> {
    let validator = jsonschema::options().should_validate_formats(true).build(schema).unwrap();
    let value: Value = serde_json::from_str(text).unwrap();
    validator.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn every_report_is_valid_under_the_official_schema() {
    let schema = schema();
    for report in [two_findings(), nothing(), hostile()] {
        for rules in [rules(), vec![]] {
            let text = write(&report, &rules, "packages/server/");
            assert_eq!(complaints(&schema, &text), Vec::<String>::new(), "{text}");
            serde_json::from_str::<serde_sarif::sarif::Sarif>(&text).unwrap();
        }
    }
}

#[test]
fn the_schema_would_complain() {
    let schema = schema();
    let good = write(&two_findings(), &rules(), "");
    for (old, new) in [
        ("\"startLine\": 5", "\"startLine\": 0"),
        ("\"level\": \"error\"", "\"level\": \"high\""),
        ("\"uri\": \"src/graph.ts\"", "\"uri\": \"src/a b.ts\""),
        ("\"ruleIndex\": 0", "\"ruleNumber\": 0"),
        ("\"version\": \"2.1.0\"", "\"version\": \"2.2.0\""),
    ] {
        assert!(good.contains(old), "{old}");
        assert_ne!(complaints(&schema, &good.replacen(old, new, 1)), Vec::<String>::new(), "{new}");
    }
}

#[test]
fn the_witness_is_a_code_flow_with_a_thread_for_each_call() {
    let report = Report { findings: vec![lock_not_released()], ..two_findings() };
    expect![[r##"
        {
          "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
          "version": "2.1.0",
          "runs": [
            {
              "tool": {
                "driver": {
                  "name": "Interlock",
                  "semanticVersion": "0.1.0",
                  "shortDescription": {
                    "text": "Finds race conditions in MCP servers"
                  },
                  "rules": [
                    {
                      "id": "lost-update",
                      "name": "LostUpdate",
                      "shortDescription": {
                        "text": "Read, changed and written back over someone else's change"
                      },
                      "fullDescription": {
                        "text": "A whole file is read, changed and written back."
                      },
                      "helpUri": "https://example.com/hazards/lost-update",
                      "help": {
                        "text": "# Read, changed and written back\n\nA whole file is read.\n",
                        "markdown": "# Read, changed and written back\n\nA whole file is read.\n"
                      },
                      "defaultConfiguration": {
                        "level": "error"
                      },
                      "properties": {
                        "tags": [
                          "security",
                          "concurrency",
                          "external/cwe/cwe-362",
                          "external/cwe/cwe-020"
                        ],
                        "security-severity": "8.0"
                      }
                    }
                  ]
                }
              },
              "invocations": [
                {
                  "executionSuccessful": true,
                  "toolExecutionNotifications": [
                    {
                      "level": "note",
                      "message": {
                        "text": "src/broken.ts: 3 lines could not be read"
                      }
                    },
                    {
                      "level": "note",
                      "message": {
                        "text": "tests were left out: 4 files"
                      }
                    }
                  ]
                }
              ],
              "originalUriBaseIds": {
                "%SRCROOT%": {
                  "description": {
                    "text": "The root of the repository"
                  }
                }
              },
              "results": [
                {
                  "ruleId": "lock-not-released",
                  "level": "warning",
                  "message": {
                    "text": "When the work fails the lock stays held, and every later call waits for good (found and proven: broken on the live server)"
                  },
                  "locations": [
                    {
                      "physicalLocation": {
                        "artifactLocation": {
                          "uri": "packages/server/src/lock.ts",
                          "uriBaseId": "%SRCROOT%"
                        },
                        "region": {
                          "startLine": 10,
                          "endLine": 14
                        }
                      },
                      "logicalLocations": [
                        {
                          "fullyQualifiedName": "withLock",
                          "kind": "function"
                        }
                      ]
                    }
                  ],
                  "partialFingerprints": {
                    "interlock/v1": "fedcba9876543210"
                  },
                  "codeFlows": [
                    {
                      "message": {
                        "text": "When the work fails the lock stays held, and every later call waits for good"
                      },
                      "threadFlows": [
                        {
                          "id": "A",
                          "message": {
                            "text": "call A"
                          },
                          "locations": [
                            {
                              "location": {
                                "physicalLocation": {
                                  "artifactLocation": {
                                    "uri": "packages/server/src/lock.ts",
                                    "uriBaseId": "%SRCROOT%"
                                  },
                                  "region": {
                                    "startLine": 10,
                                    "endLine": 10
                                  }
                                },
                                "message": {
                                  "text": "1. takes the lock"
                                }
                              },
                              "executionOrder": 1,
                              "importance": "important"
                            }
                          ]
                        },
                        {
                          "id": "B",
                          "message": {
                            "text": "call B"
                          },
                          "locations": [
                            {
                              "location": {
                                "physicalLocation": {
                                  "artifactLocation": {
                                    "uri": "packages/server/src/lock.ts",
                                    "uriBaseId": "%SRCROOT%"
                                  },
                                  "region": {
                                    "startLine": 10,
                                    "endLine": 10
                                  }
                                },
                                "message": {
                                  "text": "3. waits for the lock: for good"
                                }
                              },
                              "executionOrder": 3,
                              "importance": "essential"
                            }
                          ]
                        },
                        {
                          "id": "X",
                          "message": {
                            "text": "what is no call: a crash, an error, a retry, a close"
                          },
                          "locations": [
                            {
                              "location": {
                                "physicalLocation": {
                                  "artifactLocation": {
                                    "uri": "packages/server/src/work.ts",
                                    "uriBaseId": "%SRCROOT%"
                                  },
                                  "region": {
                                    "startLine": 12,
                                    "endLine": 12
                                  }
                                },
                                "message": {
                                  "text": "2. the work fails"
                                }
                              },
                              "executionOrder": 2,
                              "importance": "important"
                            }
                          ]
                        }
                      ]
                    }
                  ],
                  "relatedLocations": [
                    {
                      "id": 1,
                      "physicalLocation": {
                        "artifactLocation": {
                          "uri": "packages/server/src/lock.ts",
                          "uriBaseId": "%SRCROOT%"
                        },
                        "region": {
                          "startLine": 10,
                          "endLine": 10
                        }
                      },
                      "message": {
                        "text": "A: takes the lock"
                      }
                    },
                    {
                      "id": 2,
                      "physicalLocation": {
                        "artifactLocation": {
                          "uri": "packages/server/src/work.ts",
                          "uriBaseId": "%SRCROOT%"
                        },
                        "region": {
                          "startLine": 12,
                          "endLine": 12
                        }
                      },
                      "message": {
                        "text": "X: the work fails"
                      }
                    },
                    {
                      "id": 3,
                      "physicalLocation": {
                        "artifactLocation": {
                          "uri": "packages/server/src/lock.ts",
                          "uriBaseId": "%SRCROOT%"
                        },
                        "region": {
                          "startLine": 10,
                          "endLine": 10
                        }
                      },
                      "message": {
                        "text": "B: waits for the lock: for good"
                      }
                    }
                  ],
                  "properties": {
                    "severity": "medium",
                    "confidence": "medium",
                    "reach": "in-process",
                    "function": "withLock",
                    "tools": [],
                    "remedy": "Release in finally.",
                    "proof": {
                      "verdict": "broken",
                      "replay": "replay.json"
                    }
                  }
                }
              ],
              "columnKind": "utf16CodeUnits",
              "properties": {
                "score": 75,
                "grade": "C",
                "files": 12,
                "functions": 240,
                "handlers": 2,
                "followed": 1
              }
            }
          ]
        }
    "##]].assert_eq(&write(&report, &rules(), "packages/server/"));
}
