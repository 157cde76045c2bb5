/*
 * Argument parser: command line, parameter file (JSON), commands.
 *
 * One parser per process: doca_argp_init(), register flags and commands, doca_argp_start(), work,
 * doca_argp_destroy(). Everything here belongs to one thread, during start-up.
 *
 * Every program has -h/--help, -v/--version, -l/--log-level, --sdk-log-level and -j/--json. Short names have one
 * or more characters: -xyz is one flag. A flag that takes a value takes the next word, whatever it looks like;
 * --long=value works, too. Names are looked up in the command, then among what it inherits, then among the flags
 * every program has; j and json are reserved.
 *
 * A start reads and checks the whole command line and the file before it calls anything. Then: log levels, flags
 * of the file, flags of the command line in order, check for mandatory flags, validation callback, DPDK callback,
 * callback of the command.
 *
 * Parameter file: an object with doca_general_flags ("log-level", "sdk-log-level"), doca_program_flags (long
 * names) and, in DPDK programs, doca_dpdk_flags ("devices", "core-mask", "core-list", "flags"). Comments and
 * trailing commas are allowed. A flag that may be given several times takes an array.
 */
#ifndef DOCA_ARGP_H_
#define DOCA_ARGP_H_

#include <stdarg.h>

#include "doca_compat.h"
#include "doca_dev.h"
#include "doca_error.h"
#include "doca_log.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Type of a flag's value, and what the callback's first argument points to, valid during the call. */
enum doca_argp_type {
	DOCA_ARGP_TYPE_UNKNOWN = 0,    /**< not set */
	DOCA_ARGP_TYPE_STRING = 1,     /**< char */
	DOCA_ARGP_TYPE_INT = 2,	       /**< int; decimal */
	DOCA_ARGP_TYPE_BOOLEAN = 3,    /**< bool; the flag takes no value */
	DOCA_ARGP_TYPE_DEVICE = 4,     /**< struct doca_argp_device_ctx; pci/<address>[,<devargs>] */
	DOCA_ARGP_TYPE_DEVICE_REP = 5, /**< struct doca_argp_device_rep_ctx; pci/<address>,<representor>[,<devargs>] */
	DOCA_ARGP_TYPE_DOUBLE = 6,     /**< double */
};

/** Opaque: one flag. */
struct doca_argp_param;

/** Opaque: one command. */
struct doca_argp_cmd;

/** Value of a DEVICE flag. The program closes the device. */
struct doca_argp_device_ctx {
	struct doca_dev *dev;	/**< open device */
	const char *devargs;	/**< what followed the address, or NULL; valid until doca_argp_destroy() */
};

/** Value of a DEVICE_REP flag. The program closes representor and device. */
struct doca_argp_device_rep_ctx {
	struct doca_argp_device_ctx dev_ctx; /**< the device */
	struct doca_dev_rep *dev_rep;	     /**< open representor */
};

/**
 * Takes the value of a flag.
 *
 * First argument: the value, see enum doca_argp_type (NULL for the version callback); second: the program's
 * configuration. Any status but DOCA_SUCCESS ends the start, which returns it.
 */
typedef doca_error_t (*doca_argp_param_cb_t)(void *, void *);

/** Carries out a command; the argument is the program's configuration. */
typedef doca_error_t (*doca_argp_cmd_cb_t)(void *);

/** Starts DPDK; argv ends in NULL and is valid until doca_argp_destroy(). */
typedef doca_error_t (*doca_argp_dpdk_cb_t)(int argc, char **argv);

/** Looks at the program's configuration, the argument, after all flags were handled. */
typedef doca_error_t (*doca_argp_validation_cb_t)(void *);

/** Opens a device that a flag names. */
typedef doca_error_t (*doca_argp_dev_open_cb_t)(struct doca_devinfo *devinfo, void *usr_ctx, struct doca_dev **dev);

/** Takes a message of the parser: reasons with level ERROR, usage and other texts with level INFO. */
typedef doca_error_t (*doca_argp_logger_cb_t)(enum doca_log_level level, const char *format, va_list args);

/* ---- life cycle ---- */

/**
 * Makes the parser.
 *
 * @param program_name name for the usage; NULL: the base name of argv[0].
 * @param program_config handed to callbacks as it is; may be NULL.
 * @return DOCA_SUCCESS; BAD_STATE: there is one already; NO_MEMORY.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_init(const char *program_name, void *program_config);

/**
 * Parses and calls callbacks. -h and -v end the process with status 0. On an error the reason and the usage are
 * printed to stderr (or go to the logger callback) and the call returns.
 *
 * @param argc number of words.
 * @param argv the words, the program's name first.
 * @return DOCA_SUCCESS; BAD_STATE: no parser, or started already, or a callback destroyed it; INVALID_VALUE: bad
 * value, missing or repeated flag, word that is no flag, wrong type in the file; NOT_SUPPORTED: unknown flag or
 * unknown key in the file; IO_FAILED: file not readable or not JSON; NOT_FOUND: no such device or representor;
 * NO_MEMORY; or the status of a callback.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_start(int argc, char **argv);

/**
 * Takes the parser down with all flags and commands, device arguments and DPDK arguments. A callback may call it.
 *
 * @return DOCA_SUCCESS; BAD_STATE: no parser.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_destroy(void);

/**
 * Prints the usage of the program, or of the command that was given, to stdout (or to the logger callback).
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
void doca_argp_usage(void);

/* ---- registration ---- */

/**
 * Registers a flag of the program. The parser owns the flag from now on, whatever the answer.
 *
 * @param input_param flag with a name, a description, a callback and a type. Without a long name it cannot stand in
 * a file.
 * @return DOCA_SUCCESS; BAD_STATE: no parser, started already, or registered already; INITIALIZATION: one of these is missing;
 * INVALID_VALUE: NULL, not a live handle, or the name is taken or reserved.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_param(struct doca_argp_param *input_param);

/**
 * Registers a command of the program. The parser owns the command from now on, whatever the answer.
 *
 * @param input_cmd command with a name and a description.
 * @return DOCA_SUCCESS; BAD_STATE: no parser, started already, or registered already; INITIALIZATION: one of these is missing;
 * INVALID_VALUE: NULL, not a live handle, or the name is taken.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_cmd(struct doca_argp_cmd *input_cmd);

/**
 * Replaces what -v does. When the callback returns DOCA_SUCCESS, the process ends with status 0.
 *
 * @param callback called with NULL and the program's configuration.
 * @return DOCA_SUCCESS; BAD_STATE: no parser, or started already; INVALID_VALUE: NULL.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_version_callback(doca_argp_param_cb_t callback);

/**
 * Has the configuration checked after all flags were handled.
 *
 * @param callback its error fails the start.
 * @return DOCA_SUCCESS; BAD_STATE: no parser, or started already; INVALID_VALUE: NULL.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_validation_callback(doca_argp_validation_cb_t callback);

/**
 * Lets the program open the devices that flags name; it closes them.
 *
 * @param callback opens one device.
 * @param usr_ctx handed to the callback.
 * @return DOCA_SUCCESS; BAD_STATE: no parser, or started already; INVALID_VALUE: NULL.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_dev_open_callback(doca_argp_dev_open_cb_t callback, void *usr_ctx);

/**
 * Redirects what the parser says to people.
 *
 * @param callback takes the messages.
 * @return DOCA_SUCCESS; BAD_STATE: no parser; ALREADY_EXIST: there is one already; INVALID_VALUE: NULL.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_register_logger_callback(doca_argp_logger_cb_t callback);

/**
 * Back to stdout and stderr.
 *
 * @return DOCA_SUCCESS; BAD_STATE: no parser, or no callback registered.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_disable_logger_callback(void);

/**
 * Unknown keys of a parameter file are passed over instead of failing the start.
 *
 * @return DOCA_SUCCESS; BAD_STATE: no parser, or started already.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_disable_pedantic_config_parsing(void);

/**
 * Makes this a DPDK program: words before "--" go, with argv[0] in front, to the callback, words after it are parsed
 * here; without "--" all are parsed here. doca_dpdk_flags of a file is added to the callback's words.
 *
 * @param callback starts DPDK; NULL takes the setting back.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
void doca_argp_set_dpdk_program(doca_argp_dpdk_cb_t callback);

/* ---- flags: made, described, registered; texts are copied; attributes of a registered flag stay as they are ---- */

/**
 * Makes a flag.
 *
 * @param param receives the flag.
 * @return DOCA_SUCCESS; BAD_STATE: no parser; INVALID_VALUE: NULL; NO_MEMORY.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_param_create(struct doca_argp_param **param);

/**
 * Gives back a flag that was never registered.
 *
 * @param param flag.
 * @return DOCA_SUCCESS; BAD_STATE: no parser, or registered; INVALID_VALUE: not a live flag.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_param_destroy(struct doca_argp_param *param);

/**
 * Name after one dash; one or more characters.
 *
 * @param param flag, not registered yet; anything else is left alone.
 * @param name name without dash.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
void doca_argp_param_set_short_name(struct doca_argp_param *param, const char *name);

/**
 * Name after two dashes, and key in a file.
 *
 * @param param flag, not registered yet; anything else is left alone.
 * @param name name without dashes.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
void doca_argp_param_set_long_name(struct doca_argp_param *param, const char *name);

/**
 * Placeholder of the value in the usage, such as <path>.
 *
 * @param param flag, not registered yet; anything else is left alone.
 * @param arguments text.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
void doca_argp_param_set_arguments(struct doca_argp_param *param, const char *arguments);

/**
 * What the usage says about the flag.
 *
 * @param param flag, not registered yet; anything else is left alone.
 * @param description text.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
void doca_argp_param_set_description(struct doca_argp_param *param, const char *description);

/**
 * What takes the value.
 *
 * @param param flag, not registered yet; anything else is left alone.
 * @param callback callback.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
void doca_argp_param_set_callback(struct doca_argp_param *param, doca_argp_param_cb_t callback);

/**
 * Type of the value.
 *
 * @param param flag, not registered yet; anything else is left alone.
 * @param type type.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
void doca_argp_param_set_type(struct doca_argp_param *param, enum doca_argp_type type);

/**
 * A start without the flag is refused.
 *
 * @param param flag, not registered yet; anything else is left alone.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
void doca_argp_param_set_mandatory(struct doca_argp_param *param);

/**
 * The flag cannot stand in a file.
 *
 * @param param flag, not registered yet; anything else is left alone.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
void doca_argp_param_set_cli_only(struct doca_argp_param *param);

/**
 * The flag may be given several times; the callback is called each time.
 *
 * @param param flag, not registered yet; anything else is left alone.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
void doca_argp_param_set_multiplicity(struct doca_argp_param *param);

/**
 * The flag must be the only one; mandatory flags are then waived.
 *
 * @param param flag, not registered yet; anything else is left alone.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
void doca_argp_param_set_singular(struct doca_argp_param *param);

/**
 * The flag is valid in the commands below its own, too.
 *
 * @param param flag, not registered yet; anything else is left alone.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
void doca_argp_param_set_inherited(struct doca_argp_param *param);

/**
 * The usage does not show the flag.
 *
 * @param param flag, not registered yet; anything else is left alone.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
void doca_argp_param_set_hidden(struct doca_argp_param *param);

/* ---- commands: prog <command> [<command>...] [flags] ---- */

/**
 * Makes a command.
 *
 * @param cmd receives the command.
 * @return DOCA_SUCCESS; BAD_STATE: no parser; INVALID_VALUE: NULL; NO_MEMORY.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_create(struct doca_argp_cmd **cmd);

/**
 * Gives back a command that was never registered, with everything registered below it.
 *
 * @param cmd command.
 * @return DOCA_SUCCESS; BAD_STATE: no parser, or registered; INVALID_VALUE: not a live command.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_destroy(struct doca_argp_cmd *cmd);

/**
 * Word that calls the command.
 *
 * @param cmd command, not registered yet; anything else is left alone.
 * @param name word.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
void doca_argp_cmd_set_name(struct doca_argp_cmd *cmd, const char *name);

/**
 * What the usage says about the command.
 *
 * @param cmd command, not registered yet; anything else is left alone.
 * @param description text.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
void doca_argp_cmd_set_description(struct doca_argp_cmd *cmd, const char *description);

/**
 * What carries the command out, after everything else; optional.
 *
 * @param cmd command, not registered yet; anything else is left alone.
 * @param callback callback.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
void doca_argp_cmd_set_callback(struct doca_argp_cmd *cmd, doca_argp_cmd_cb_t callback);

/**
 * The usage does not show the command.
 *
 * @param cmd command, not registered yet; anything else is left alone.
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
void doca_argp_cmd_set_hidden(struct doca_argp_cmd *cmd);

/**
 * Registers a flag of a command. The parser owns the flag from now on, whatever the answer.
 *
 * @param cmd command.
 * @param input_param flag, as for doca_argp_register_param().
 * @return as doca_argp_register_param().
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_register_param(struct doca_argp_cmd *cmd, struct doca_argp_param *input_param);

/**
 * Registers a command below a command. The parser owns it from now on, whatever the answer.
 *
 * @param cmd command.
 * @param input_cmd command, as for doca_argp_register_cmd().
 * @return as doca_argp_register_cmd(); INVALID_VALUE also when it would lie below itself (then nothing changes).
 *
 * Single thread, during start-up.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_cmd_register_cmd(struct doca_argp_cmd *cmd, struct doca_argp_cmd *input_cmd);

/* ---- levels ---- */

/**
 * Level given by -l or the file, else the present global lower limit.
 *
 * @param log_level receives the level.
 * @return DOCA_SUCCESS; INVALID_VALUE: NULL.
 *
 * Any thread.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_get_log_level(int *log_level);

/**
 * Level given by --sdk-log-level or the file, else the present global SDK level.
 *
 * @param log_level receives the level.
 * @return DOCA_SUCCESS; INVALID_VALUE: NULL.
 *
 * Any thread.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_argp_get_sdk_log_level(int *log_level);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_ARGP_H_ */
