/*
 * Bit fields inside bytes and big-endian words.
 *
 * A field is named by its highest and lowest bit (_h, _l) or by its mask (_m), which is already in place: for
 * the BE forms in big-endian order. Values (_v) and results of the GET forms are host values. _p is a pointer
 * to the word that has the field. All but the P forms are constant expressions when their arguments are.
 */
#ifndef DOCA_BITFIELD_H_
#define DOCA_BITFIELD_H_

#include <arpa/inet.h>

#include "doca_types.h"

/** Index of the lowest set bit; -1 for 0. */
#define DOCA_SHIFT(x) (__builtin_ffsll((long long)(x)) - 1)

/* Host order to big-endian order, and back. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define DOCA_HTOBE16(x) ((doca_be16_t)__builtin_bswap16((uint16_t)(x)))
#define DOCA_HTOBE32(x) ((doca_be32_t)__builtin_bswap32((uint32_t)(x)))
#define DOCA_BETOH16(x) ((uint16_t)__builtin_bswap16((uint16_t)(x)))
#define DOCA_BETOH32(x) ((uint32_t)__builtin_bswap32((uint32_t)(x)))
#else
#define DOCA_HTOBE16(x) ((doca_be16_t)(x))
#define DOCA_HTOBE32(x) ((doca_be32_t)(x))
#define DOCA_BETOH16(x) ((uint16_t)(x))
#define DOCA_BETOH32(x) ((uint32_t)(x))
#endif

/* Mask with bits _h down to _l set. */
#define DOCA_U8_GENMASK(_h, _l) ((uint8_t)((0xFFu >> (7 - (_h))) & (0xFFu << (_l))))
#define DOCA_BE16_GENMASK(_h, _l) DOCA_HTOBE16((0xFFFFu >> (15 - (_h))) & (0xFFFFu << (_l)))
#define DOCA_BE32_GENMASK(_h, _l) DOCA_HTOBE32((0xFFFFFFFFu >> (31 - (_h))) & (0xFFFFFFFFu << (_l)))

/* The same, stored. */
#define DOCA_U8P_GENMASK(_h, _l, _p) (*(_p) = DOCA_U8_GENMASK(_h, _l))
#define DOCA_BE16P_GENMASK(_h, _l, _p) (*(_p) = DOCA_BE16_GENMASK(_h, _l))
#define DOCA_BE32P_GENMASK(_h, _l, _p) (*(_p) = DOCA_BE32_GENMASK(_h, _l))

/* A value moved under a host-order mask, and taken from under it; an empty mask gives 0. */
#define SOFTDPU_FIELD_PUT(_m, _v) \
	((_m) == 0 ? 0u : (((uint32_t)(_v) << (DOCA_SHIFT(_m) & 31)) & (uint32_t)(_m)))
#define SOFTDPU_FIELD_TAKE(_m, _f) ((_m) == 0 ? 0u : (((uint32_t)(_f) & (uint32_t)(_m)) >> (DOCA_SHIFT(_m) & 31)))

/* A value placed under a mask. */
#define DOCA_U8_SET(_m, _v) ((uint8_t)SOFTDPU_FIELD_PUT((uint8_t)(_m), _v))
#define DOCA_BE16_SET(_m, _v) DOCA_HTOBE16(SOFTDPU_FIELD_PUT(DOCA_BETOH16(_m), _v))
#define DOCA_BE32_SET(_m, _v) DOCA_HTOBE32(SOFTDPU_FIELD_PUT(DOCA_BETOH32(_m), _v))

/* The same, added (by OR) to the word. */
#define DOCA_U8P_SET(_m, _v, _p) (*(_p) |= DOCA_U8_SET(_m, _v))
#define DOCA_BE16P_SET(_m, _v, _p) (*(_p) |= DOCA_BE16_SET(_m, _v))
#define DOCA_BE32P_SET(_m, _v, _p) (*(_p) |= DOCA_BE32_SET(_m, _v))

/* The value under a mask. */
#define DOCA_U8_GET(_m, _f) ((uint8_t)SOFTDPU_FIELD_TAKE((uint8_t)(_m), _f))
#define DOCA_BE16_GET(_m, _f) ((uint16_t)SOFTDPU_FIELD_TAKE(DOCA_BETOH16(_m), DOCA_BETOH16(_f)))
#define DOCA_BE32_GET(_m, _f) ((uint32_t)SOFTDPU_FIELD_TAKE(DOCA_BETOH32(_m), DOCA_BETOH32(_f)))

#endif /* DOCA_BITFIELD_H_ */
