/*
 * What programs need that take their way over the network, whatever their peers are: the library that
 * the network path is built on. Without it they are skipped.
 */
#ifndef CONFORMANCE_NET_RIG_H
#define CONFORMANCE_NET_RIG_H

#include <glob.h>
#include <stdio.h>
#include <unistd.h>

__attribute__((constructor)) static void net_library(void)
{
	static const char *const places[] = {"/usr/lib/*/libfabric.so.1", "/usr/lib*/libfabric.so.1",
					     "/usr/local/lib*/libfabric.so.1", "/lib/*/libfabric.so.1"};
	unsigned i, found = 0;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		glob_t list = {0};

		found += glob(places[i], 0, NULL, &list) == 0;
		globfree(&list);
	}
	if (found == 0) {
		printf("skipped: libfabric is not installed\n");
		fflush(stdout);
		_exit(77);
	}
}

#endif
