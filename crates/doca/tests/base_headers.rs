//! The headers of the base family: each compiles alone, in C and C++, without a warning; sides are chosen as
//! promised; the macros compute what they promise; the enum is that of the table.

mod base_common;

use base_common::{crate_folder, include, run, scratch, text};
use softdpu_status::Code;
use std::path::{Path, PathBuf};
use std::process::Command;

const HEADERS: [&str; 10] = [
    "doca_argp.h",
    "doca_bitfield.h",
    "doca_build_config.h",
    "doca_common_defines.h",
    "doca_compat.h",
    "doca_config.h",
    "doca_error.h",
    "doca_log.h",
    "doca_types.h",
    "doca_version.h",
];

const MODES: [(&str, &str); 4] = [("gcc", "c11"), ("gcc", "c17"), ("g++", "c++17"), ("g++", "c++20")];

/// The modes that can be tried: who has no C++ compiler compiles C.
fn modes() -> impl Iterator<Item = (&'static str, &'static str)> {
    MODES.into_iter().filter(|(compiler, standard)| {
        let found = Command::new(compiler).arg("--version").output().is_ok();
        if !found {
            println!("skipped: {standard}: {compiler} is not installed");
        }
        found
    })
}

/// Compiles (and runs, when it is to) one text; gives the compiler's or the program's output.
fn compile(folder: &Path, source: &str, mode: (&str, &str), extra: &[&str]) -> Result<PathBuf, String> {
    let (compiler, standard) = mode;
    let file = folder.join(if compiler == "gcc" { "one.c" } else { "one.cc" });
    let object = folder.join("one.o");
    std::fs::write(&file, source).expect("source");
    let mut command = Command::new(compiler);
    command.arg(format!("-std={standard}")).args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c"]);
    command.args(extra).arg("-I").arg(include()).arg(&file).arg("-o").arg(&object);
    let output = run(&mut command);
    if output.status.success() { Ok(object) } else { Err(text(&output.stderr)) }
}

#[test]
fn every_header_compiles_alone_and_twice() {
    let folder = scratch("headers");
    for header in HEADERS {
        for mode in modes() {
            for opt_in in ["-DDOCA_ALLOW_EXPERIMENTAL_API", "-UDOCA_ALLOW_EXPERIMENTAL_API"] {
                let source = format!(
                    "#include <{header}>\n#include <{header}>\nint one(void);\nint one(void) {{ return 0; }}\n"
                );
                compile(&folder, &source, mode, &[opt_in])
                    .unwrap_or_else(|why| panic!("{header} {mode:?}: {why}"));
            }
        }
    }
}

#[test]
fn experimental_calls_warn_unless_the_program_opts_in() {
    let folder = scratch("optin");
    let source = "#include <doca_version.h>\nconst char *f(void);\nconst char *f(void) { return doca_version_runtime(); }\n";
    for mode in modes() {
        assert!(compile(&folder, source, mode, &["-DDOCA_ALLOW_EXPERIMENTAL_API"]).is_ok());
        let refused = compile(&folder, source, mode, &[]).expect_err("a warning");
        assert!(refused.contains("deprecated"), "{refused}");
    }
}

#[test]
fn logging_and_transitive_names_compile_as_programs_write_them() {
    let folder = scratch("logging");
    let source = r#"
        #include <doca_log.h>
        DOCA_LOG_REGISTER(PE::COMMON);
        int main(void) {
            char *room = (char *)malloc(4);
            memset(room, 0, 4);
            fprintf(stderr, "%d", (int)room[0]);
            free(room);
            DOCA_LOG_INFO("no values");
            DOCA_LOG_ERR("%s %d", "two", 2);
            if (room == NULL)
                DOCA_LOG_TRC("%d", *(int *)0);
            else
                DOCA_LOG_DBG("x");
            return EXIT_SUCCESS;
        }
    "#;
    for mode in modes() {
        for extra in [
            &["-DDOCA_ALLOW_EXPERIMENTAL_API"][..],
            &["-DDOCA_ALLOW_EXPERIMENTAL_API", "-DDOCA_LOGGING_ALLOW_TRACE"],
        ] {
            compile(&folder, source, mode, extra).unwrap_or_else(|why| panic!("{mode:?}: {why}"));
        }
    }
    let wrong = source.replace("\"two\"", "2");
    assert!(
        compile(&folder, &wrong, MODES[0], &["-DDOCA_ALLOW_EXPERIMENTAL_API"]).is_err(),
        "formats are checked"
    );
    let in_namespace = "#include <doca_log.h>\nnamespace { DOCA_LOG_REGISTER(A); }\nvoid f(); void f() { DOCA_LOG_WARN(\"x\"); }\n";
    if let Some(cxx) = modes().find(|mode| *mode == MODES[2]) {
        compile(&folder, in_namespace, cxx, &["-DDOCA_ALLOW_EXPERIMENTAL_API"]).expect("namespace");
    }
}

#[test]
fn exactly_one_side_is_chosen() {
    let folder = scratch("sides");
    let sides = crate_folder().join("include-side");
    let side = |extra: &[&str]| {
        let source = "#include \"doca_error.h\"\n#if defined(DOCA_ARCH_DPU) == defined(DOCA_ARCH_HOST)\n#error both or none\n#endif\n#ifdef DOCA_ARCH_DPU\n#error side is dpu\n#endif\nint x;\n";
        match compile(&folder, source, MODES[0], extra) {
            Ok(_) => "host",
            Err(why) if why.contains("side is dpu") => "dpu",
            Err(why) => panic!("{extra:?}: {why}"),
        }
    };
    // The second include root must win over the header beside the including one: it comes first and the
    // includes of the first root are looked up through it.
    let dpu = format!("-I{}", sides.join("dpu").display());
    let host = format!("-I{}", sides.join("host").display());
    assert_eq!(side(&[]), "host");
    assert_eq!(side(&["-DDOCA_ARCH_DPU"]), "dpu");
    assert_eq!(side(&["-DDOCA_ARCH_HOST"]), "host");
    assert_eq!(side(&[&dpu]), "dpu");
    assert_eq!(side(&[&dpu, "-DDOCA_ARCH_HOST"]), "host");
    assert_eq!(side(&[&host]), "host");
    let both =
        compile(&folder, "#include <doca_error.h>\n", MODES[0], &["-DDOCA_ARCH_DPU", "-DDOCA_ARCH_HOST"]);
    assert!(both.expect_err("refused").contains("exclude each other"));
    // Build systems search the text of the file.
    for (folder, present, absent) in [
        (include(), "DOCA_ARCH_HOST", "DOCA_ARCH_DPU"),
        (sides.join("dpu"), "DOCA_ARCH_DPU", "DOCA_ARCH_HOST"),
    ] {
        let config = std::fs::read_to_string(folder.join("doca_build_config.h")).expect("header");
        assert!(config.contains(present) && !config.contains(absent), "{}", folder.display());
    }
}

#[test]
fn the_enum_is_the_table() {
    let header = std::fs::read_to_string(include().join("doca_error.h")).expect("header");
    let mut rows = Vec::new();
    for line in header.lines().map(str::trim).filter(|line| line.starts_with("DOCA_") && line.contains(" = "))
    {
        let (name, rest) = line.split_once(" = ").expect("row");
        let number: i32 = rest.split(',').next().expect("number").parse().expect("number");
        rows.push((name.to_owned(), number));
    }
    let mut table = vec![("DOCA_SUCCESS".to_owned(), 0)];
    table.extend(Code::ALL.iter().map(|code| (code.name().to_owned(), code.number())));
    assert_eq!(rows, table);
}

#[test]
fn the_macros_compute_what_they_promise() {
    let folder = scratch("macros");
    let source = r#"
        #include <doca_bitfield.h>
        #include <doca_error.h>
        #include <doca_log.h>
        #include <doca_types.h>
        #include <assert.h>
        struct sized { DOCA_STRUCT_START; int value; };
        static int calls;
        static doca_error_t answer(doca_error_t error) { calls++; return error; }
        static const doca_be16_t constant = DOCA_BE16_GENMASK(3, 0);
        int main(void)
        {
            uint8_t byte = 0;
            doca_be16_t half = 0;
            doca_be32_t word = 0;
            doca_error_t result = DOCA_SUCCESS;
            struct sized s = {0, 3};
            union doca_data data = {0};

            assert(sizeof(data) == 8 && sizeof(enum doca_error) == 4);
            assert(DOCA_SHIFT(0) == -1 && DOCA_SHIFT(8) == 3);
            assert(DOCA_HTOBE16(0x1234) == htons(0x1234) && DOCA_HTOBE32(0x12345678) == htonl(0x12345678));
            assert(DOCA_BETOH16(htons(7)) == 7 && DOCA_BETOH32(htonl(7)) == 7 && constant == htons(15));
            assert(DOCA_U8_GENMASK(7, 4) == 0xF0 && DOCA_U8_GENMASK(7, 0) == 0xFF && DOCA_U8_GENMASK(0, 0) == 1);
            assert(DOCA_BE16_GENMASK(11, 4) == htons(0x0FF0) && DOCA_BE32_GENMASK(31, 0) == 0xFFFFFFFF);
            DOCA_U8P_GENMASK(3, 2, &byte);
            DOCA_BE16P_GENMASK(15, 15, &half);
            DOCA_BE32P_GENMASK(23, 8, &word);
            assert(byte == 0x0C && half == htons(0x8000) && word == htonl(0x00FFFF00));
            assert(DOCA_U8_SET(0x0C, 2) == 8 && DOCA_U8_SET(0x0C, 7) == 0x0C && DOCA_U8_SET(0, 7) == 0);
            assert(DOCA_BE16_SET(htons(0x0FF0), 0xAB) == htons(0x0AB0));
            assert(DOCA_BE32_SET(htonl(0x00FFFF00), 0xBEEF) == htonl(0x00BEEF00));
            half = htons(1);
            DOCA_BE16P_SET(htons(0x0FF0), 0xAB, &half);
            byte = 0x80;
            DOCA_U8P_SET(0x0F, 5, &byte);
            word = 0;
            DOCA_BE32P_SET(htonl(0xF0000000), 0xA, &word);
            assert(half == htons(0x0AB1) && byte == 0x85 && word == htonl(0xA0000000));
            assert(DOCA_U8_GET(0x0F, byte) == 5 && DOCA_BE16_GET(htons(0x0FF0), half) == 0xAB);
            assert(DOCA_BE32_GET(htonl(0xF0000000), word) == 0xA && DOCA_BE32_GET(0, word) == 0);

            DOCA_ERROR_PROPAGATE(result, answer(DOCA_SUCCESS));
            DOCA_ERROR_PROPAGATE(result, answer(DOCA_ERROR_FULL));
            DOCA_ERROR_PROPAGATE(result, answer(DOCA_ERROR_EMPTY));
            assert(calls == 2 && result == DOCA_ERROR_FULL && DOCA_IS_ERROR(result) && !DOCA_IS_ERROR(DOCA_SUCCESS));

            assert(DOCA_VERSION_CALC_EXACT(1, 2, 3) == 0x01020003 && DOCA_VERSION_CALC(1, 2, 3) == 0x01020000 + 3000);
            assert(DOCA_VERSION_EQ_CURRENT(3, 3, 0) && DOCA_VERSION_LTE_CURRENT(3, 2, 9) && !DOCA_VERSION_LTE_CURRENT(3, 4, 0));
            assert(strcmp(doca_version(), "3.3.0000") == 0);
            DOCA_STRUCT_CTOR(s);
            assert(DOCA_STRUCT_GET_VERSION(&s) == DOCA_VERSION_EXACT && s.value == 3);
            DOCA_STRUCT_MEMSET_CTOR(s);
            assert(s.value == 0);
            {
                DOCA_STRUCT_DEF(sized, t);
                assert(DOCA_STRUCT_GET_VERSION(&t) == DOCA_STRUCT_GET_VERSION(&s) && t.value == 0);
            }
            return 0;
        }
    "#;
    for mode in modes() {
        let extra = ["-DDOCA_ALLOW_EXPERIMENTAL_API", "-Wno-missing-field-initializers"];
        let object = compile(&folder, source, mode, &extra).unwrap_or_else(|why| panic!("{mode:?}: {why}"));
        let program = folder.join("program");
        let linked = run(Command::new(mode.0).arg(&object).arg("-o").arg(&program));
        assert!(linked.status.success(), "{}", text(&linked.stderr));
        let ran = run(&mut Command::new(&program));
        assert!(ran.status.success(), "{mode:?}: {}", text(&ran.stderr));
    }
}
