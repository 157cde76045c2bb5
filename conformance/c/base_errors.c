/*
 * The error codes: numbers, names, texts, what an unknown number gives; the two macros; version
 * macros in the preprocessor and at run time.
 *
 * clauses: core-base doca_error.h, doca_version.h
 * covers: @
 */
#include <doca_compat.h>
#include <doca_version.h>

#include "check.h"

#if !defined(DOCA_VERSION_MAJOR) || !defined(DOCA_VERSION_MINOR) || !defined(DOCA_VERSION_PATCH)
#error "the version macros are usable in the preprocessor"
#endif
#if DOCA_VERSION_MAJOR != 3 || DOCA_VERSION_MINOR != 3 || DOCA_VERSION_PATCH != 0
#error "this is 3.3.0"
#endif

#define ROW(number_, name_) {number_, DOCA_ERROR_##name_, "DOCA_ERROR_" #name_}

static const struct {
	int number;
	doca_error_t code;
	const char *name;
} rows[] = {
	{0, DOCA_SUCCESS, "DOCA_SUCCESS"},
	ROW(1, UNKNOWN), ROW(2, NOT_PERMITTED), ROW(3, IN_USE), ROW(4, NOT_SUPPORTED), ROW(5, AGAIN),
	ROW(6, INVALID_VALUE), ROW(7, NO_MEMORY), ROW(8, INITIALIZATION), ROW(9, TIME_OUT), ROW(10, SHUTDOWN),
	ROW(11, CONNECTION_RESET), ROW(12, CONNECTION_ABORTED), ROW(13, CONNECTION_INPROGRESS),
	ROW(14, NOT_CONNECTED), ROW(15, NO_LOCK), ROW(16, NOT_FOUND), ROW(17, IO_FAILED), ROW(18, BAD_STATE),
	ROW(19, UNSUPPORTED_VERSION), ROW(20, OPERATING_SYSTEM), ROW(21, DRIVER), ROW(22, UNEXPECTED),
	ROW(23, ALREADY_EXIST), ROW(24, FULL), ROW(25, EMPTY), ROW(26, IN_PROGRESS), ROW(27, TOO_BIG),
	ROW(28, AUTHENTICATION), ROW(29, BAD_CONFIG), ROW(30, SKIPPED), ROW(31, DEVICE_FATAL_ERROR),
};

static int evaluations;

static doca_error_t count_evaluation(doca_error_t result)
{
	evaluations++;
	return result;
}

int main(void)
{
	const char *unknown = doca_error_get_name((doca_error_t)4711);
	doca_error_t first = DOCA_SUCCESS;
	size_t i, j;

	CHECK_U64(sizeof(rows) / sizeof(rows[0]), 32);
	CHECK_U64(sizeof(doca_error_t), 4);
	for (i = 0; i < 32; i++) {
		const char *text = doca_error_get_descr(rows[i].code);

		CHECK_U64(rows[i].code, rows[i].number);
		CHECK_TEXT(doca_error_get_name(rows[i].code), rows[i].name);
		MUST_BE(text != NULL);
		CHECK(strlen(text) > 2);
		/* Static storage: the same pointer each time. */
		CHECK_PTR(doca_error_get_descr(rows[i].code), text);
		CHECK_U64(DOCA_IS_ERROR(rows[i].code) != 0, i != 0);
		for (j = 0; j < i; j++)
			CHECK(strcmp(text, doca_error_get_descr(rows[j].code)) != 0);
	}
	/* Unknown numbers: one fixed text each, never NULL. */
	MUST_BE(unknown != NULL && doca_error_get_descr((doca_error_t)4711) != NULL);
	CHECK_TEXT(doca_error_get_name((doca_error_t)32), unknown);
	CHECK_TEXT(doca_error_get_name((doca_error_t)-1), unknown);
	CHECK_TEXT(doca_error_get_descr((doca_error_t)32), doca_error_get_descr((doca_error_t)4711));
	for (i = 0; i < 32; i++)
		CHECK(strcmp(unknown, rows[i].name) != 0);

	/* The first error is kept; the argument is evaluated at most once. */
	DOCA_ERROR_PROPAGATE(first, count_evaluation(DOCA_SUCCESS));
	CHECK_STATUS(first, DOCA_SUCCESS);
	CHECK_U64(evaluations, 1);
	DOCA_ERROR_PROPAGATE(first, count_evaluation(DOCA_ERROR_FULL));
	CHECK_STATUS(first, DOCA_ERROR_FULL);
	CHECK_U64(evaluations, 2);
	DOCA_ERROR_PROPAGATE(first, count_evaluation(DOCA_ERROR_EMPTY));
	CHECK_STATUS(first, DOCA_ERROR_FULL);
	CHECK(evaluations <= 3);
	if (evaluations == 0)
		DOCA_ERROR_PROPAGATE(first, DOCA_SUCCESS); /* a statement, also here */
	else
		CHECK(doca_likely(1) && !doca_unlikely(0));

	CHECK_TEXT(DOCA_VERSION_STRING, "3.3.0000");
	CHECK_TEXT(doca_version(), DOCA_VERSION_STRING);
	CHECK_TEXT(doca_version_runtime(), DOCA_VERSION_STRING);
	CHECK_U64(DOCA_VERSION_CALC_EXACT(3, 3, 5), (3u << 24) | (3u << 16) | 5u);
	CHECK_U64(DOCA_VERSION_CALC(3, 3, 5), (3u << 24) | (3u << 16) | 5000u);
	CHECK_U64(DOCA_VERSION_EXACT, (3u << 24) | (3u << 16));
	CHECK_U64(DOCA_VERSION_OFFICIAL, DOCA_VERSION_EXACT);
	CHECK(DOCA_VERSION_EQ_CURRENT(3, 3, 0));
	CHECK(!DOCA_VERSION_EQ_CURRENT(3, 2, 0));
	CHECK(DOCA_VERSION_LTE_CURRENT(2, 9, 0) && DOCA_VERSION_LTE_CURRENT(3, 3, 0));
	CHECK(!DOCA_VERSION_LTE_CURRENT(3, 4, 0));
	return check_result();
}
