/*
 * The three classes of errors: what a program should do about each code, and which are worth a retry.
 *
 * clauses: primer error classes
 * covers: @
 */
#include <doca_primer.h>

#include "check.h"

int main(void)
{
	int code;

	CHECK_U64(doca_error_get_class(DOCA_SUCCESS), DOCA_ERROR_CLASS_NONE);
	CHECK_U64(doca_error_get_class(DOCA_ERROR_INVALID_VALUE), DOCA_ERROR_CLASS_PARAMETER);
	CHECK_U64(doca_error_get_class(DOCA_ERROR_NOT_SUPPORTED), DOCA_ERROR_CLASS_PARAMETER);
	CHECK_U64(doca_error_get_class(DOCA_ERROR_NO_MEMORY), DOCA_ERROR_CLASS_RESOURCE);
	CHECK_U64(doca_error_get_class(DOCA_ERROR_BAD_STATE), DOCA_ERROR_CLASS_RESOURCE);
	CHECK_U64(doca_error_get_class(DOCA_ERROR_AGAIN), DOCA_ERROR_CLASS_TRANSIENT);
	CHECK_U64(doca_error_get_class(DOCA_ERROR_IO_FAILED), DOCA_ERROR_CLASS_TRANSIENT);
	for (code = 0; code <= 31; code++)
		CHECK_U64(doca_error_is_retryable((doca_error_t)code),
			  doca_error_get_class((doca_error_t)code) == DOCA_ERROR_CLASS_TRANSIENT);

	return check_result();
}
