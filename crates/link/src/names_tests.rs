//! What file names say.

use super::*;

#[test]
fn names_say_what_they_are() {
    let owner = Owner { pid: 12, started: 345 };
    assert_eq!(kind(&of_process(owner)), Some(Kind::Process(owner)));
    assert_eq!(of_process(owner), "12-345.sock");
    assert_eq!(kind(&of_listener("a")), Some(Kind::Listener));
    assert_eq!(kind(&of_listener("")), Some(Kind::Listener));
    assert_ne!(of_listener("a"), of_listener("b"));
    assert!(of_listener(&"long ".repeat(1000)).len() < 64);
    assert_eq!(kind("new-12-345-6.sock"), Some(Kind::New(owner)));
    for other in [
        "",
        "lock",
        ".sock",
        "x.sock",
        "12.sock",
        "12-.sock",
        "-1-2.sock",
        "12-345",
        "12-345.sock.old",
        "name-.sock",
        "name-12.sock",
        "new-12-345.sock",
        "new-.sock",
        "99999999999-1.sock",
        "1-2-3.sock",
    ] {
        assert_eq!(kind(other), None, "{other}");
    }
}
