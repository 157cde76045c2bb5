/*
 * rule: wrong-representor
 *
 * On a machine with two cards the program starts a server on one with a representor of the other.
 */
#include "misuse.h"

#include "../c/x_comch.h"

static const char topology[] =
	"[[card]]\nname = \"one\"\n"
	"[[card.function]]\nside = \"dpu\"\npci = \"03:00.0\"\n[[card.function]]\nside = \"host\"\npci = \"b1:00.0\"\n"
	"[[card]]\nname = \"two\"\n"
	"[[card.function]]\nside = \"dpu\"\npci = \"04:00.0\"\n[[card.function]]\nside = \"host\"\npci = \"b2:00.0\"\n";

int main(void)
{
	struct doca_comch_server *server = NULL;
	struct doca_dev *one, *two;
	struct doca_dev_rep *rep;
	FILE *file = fopen("two_cards.toml", "w");

	MUST_BE(file != NULL && fputs(topology, file) >= 0 && fclose(file) == 0);
	setenv("SOFTDPU_CONFIG", "two_cards.toml", 1);
	one = comch_open("03:00.0", 1);
	two = comch_open("04:00.0", 1);
	rep = comch_open_rep(one, "b1:00.0");
	if (WRONG) {
		CHECK_REFUSED(doca_comch_server_create(two, rep, "stray", &server));
	} else {
		MUST(doca_comch_server_create(one, rep, "stray", &server));
		MUST(doca_comch_server_destroy(server));
	}
	MUST(doca_dev_rep_close(rep));
	MUST(doca_dev_close(two));
	MUST(doca_dev_close(one));
	return check_result();
}
