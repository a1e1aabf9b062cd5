"""The rules of functions for lineage: the one table of them.
Most functions need no entry: every argument is part of the value, and what is inside a struct argument cannot be told
apart. Names are lower case, in any dialect's spelling; a name that means different things in two dialects has the
rule that is right for both."""

from dataclasses import dataclass
from enum import Enum


class Passing(Enum):
    """The argument into which a path into the result leads."""

    NOTHING = "nothing"  # the result is a new value: a path into it ends here
    SAME = "same"  # the result is one of the value arguments: the path goes on into each
    ELEMENTS = "elements"  # the result is an array of the first argument's values


@dataclass(frozen=True, slots=True)
class FunctionRule:
    """The use that one function makes of its arguments. `conditions` are the positions that choose rather than make
    the value (negative ones count from the end), the rest are values. `tests` says that the values choose, too:
    `coalesce` looks whether each is null. `masks` says that the value cannot be told from the result. `passing`
    concerns paths into the result."""

    conditions: tuple[int, ...] = ()
    tests: bool = False
    masks: bool = False
    passing: Passing = Passing.NOTHING
    alternates: int | None = None  # from this position on, odd steps are values and even ones conditions

    def condition_positions(self, count: int) -> frozenset[int]:
        """The positions of conditions in a call with `count` arguments."""
        positions = {at if at >= 0 else count + at for at in self.conditions if -count <= at < count}
        if self.alternates is not None:
            last = count - 1
            positions.update(at for at in range(self.alternates, last) if (at - self.alternates) % 2 == 0)
        return frozenset(positions)


PLAIN = FunctionRule()

_CHOOSES = FunctionRule((0,), passing=Passing.SAME)
_FIRST_OF = FunctionRule((1,), passing=Passing.SAME)
_SAME = FunctionRule(passing=Passing.SAME)
_LAST_CONDITION = FunctionRule((-1,))
_MASKS = FunctionRule(masks=True)
_ELEMENTS = FunctionRule(passing=Passing.ELEMENTS)

_GROUPS: dict[FunctionRule, str] = {
    _CHOOSES: "if iff iif nvl2 choose elt",
    FunctionRule((1,), tests=True, passing=Passing.SAME): "nullif",
    FunctionRule(tests=True, passing=Passing.SAME): "coalesce ifnull nvl isnull zeroifnull nullifzero",
    _FIRST_OF: """
        max_by min_by arg_max arg_min argmax argmin max_n_by min_n_by
        filter array_filter list_filter array_remove nth_value lag lead
    """,
    FunctionRule((1, 2), passing=Passing.SAME): "slice array_slice list_slice trim_array",
    FunctionRule((0,), passing=Passing.SAME, alternates=1): "decode decode_case",
    FunctionRule(alternates=0, passing=Passing.SAME): "multiif multi_if",
    _SAME: """
        iferror try cast try_cast safe_cast convert
        greatest least min max any_value anyvalue any first last first_value last_value any_last
        array_concat array_cat list_concat array_reverse array_distinct array_sort sort_array array_union
        array_except array_intersect reverse list_reverse list_distinct list_sort array_compact
        map_concat map_filter map_values json_extract tonullable assumenotnull materialize identity
    """,
    _ELEMENTS: """
        array_agg array_agg_distinct collect_list collect_set list group_array grouparray groupuniqarray arrayagg
        array_concat_agg array_unique_agg
    """,
    _LAST_CONDITION: """
        sumif avgif minif maxif anyif uniqif uniqexactif quantileif argmaxif argminif sum_if avg_if grouparrayif
    """,
    _MASKS: """
        count count_distinct count_if countif count_big approx_count_distinct approx_distinct ndv hll
        hll_count approx_count_distinct_agg uniq uniqexact uniqcombined uniqcombined64 uniqhll12 uniqtheta
        regr_count hash hash_agg md5 md5_hex md5_binary md5_number_lower64 md5_number_upper64 md5_digest sha
        sha1 sha1_hex sha1_binary sha2 sha2_hex sha2_binary sha224 sha256 sha384 sha512 fingerprint
        farm_fingerprint murmurhash murmur3_32 murmurhash3_32 murmurhash3_64 murmurhash3_128 xxhash32 xxhash64
        xxh3 xxhash64_spark crc32 crc32c checksum binary_checksum checksum_agg hashbytes ora_hash standard_hash
        halfmd5 siphash64 siphash128 cityhash64 city_hash64 farmhash64 farmfingerprint64 metrohash64 javahash
        hivehash spooky_hash_v2_32 spooky_hash_v2_64 digest hmac hmac_md5 hmac_sha1 hmac_sha256 hmac_sha512 mask
        mask_first_n mask_last_n mask_show_first_n mask_show_last_n mask_hash
    """,
}

_RULES = {name: rule for rule, names in _GROUPS.items() for name in names.split()}


def rule_of(function: str) -> FunctionRule:
    """The rule of a function, by its lower-case name.

    >>> sorted(rule_of("decode").condition_positions(6)), sorted(rule_of("decode").condition_positions(5))
    ([0, 1, 3], [0, 1, 3])
    >>> sorted(rule_of("multiif").condition_positions(5))
    [0, 2]
    """
    return _RULES.get(function, PLAIN)
