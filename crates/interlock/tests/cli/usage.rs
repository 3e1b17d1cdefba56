//! Help, version, completions and misuse.

use std::process::Command;

use crate::run;

#[test]
fn without_a_verb_the_help_is_shown_and_it_counts_as_misuse() {
    let help = run(&[]);
    assert_eq!((help.code, help.stdout.as_str()), (2, ""));
    assert!(help.stderr.contains("Usage: interlock <COMMAND>"), "{}", help.stderr);
}

#[test]
fn help_names_every_verb_and_the_exit_codes() {
    let help = run(&["--help"]);
    assert_eq!((help.code, help.stderr.as_str()), (0, ""));
    for text in ["explain", "completions", "2  Interlock failed or was misused"] {
        assert!(help.stdout.contains(text), "{text}: {}", help.stdout);
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    assert_eq!(run(&["--version"]).stdout, format!("interlock {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn an_unknown_verb_format_or_shell_is_misuse() {
    for arguments in [&["explian"][..], &["explain", "--format", "yaml"], &["completions", "cobol"]] {
        let refusal = run(arguments);
        assert_eq!((refusal.code, refusal.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(refusal.stderr.starts_with("error: "), "{arguments:?}: {}", refusal.stderr);
    }
}

#[test]
fn every_shell_gets_completions_for_every_verb() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = run(&["completions", shell]);
        assert_eq!((script.code, script.stderr.as_str()), (0, ""), "{shell}");
        assert!(script.stdout.contains("explain") && script.stdout.contains("completions"), "{shell}");
    }
}

#[test]
fn bash_completes_a_hazard_s_name() {
    let script = run(&["completions", "bash"]).stdout;
    let ask = "COMP_WORDS=(interlock explain lost-u); COMP_CWORD=2; _interlock interlock lost-u explain; echo ${COMPREPLY[@]}";
    let bash =
        Command::new("/bin/bash").args(["--norc", "-c", &format!("{script}\n{ask}")]).env_clear().output();
    let bash = bash.expect("bash is there");
    assert_eq!(
        String::from_utf8_lossy(&bash.stdout).trim(),
        "lost-update",
        "{}",
        String::from_utf8_lossy(&bash.stderr)
    );
}
