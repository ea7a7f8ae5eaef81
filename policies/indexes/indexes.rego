# METADATA
# scope: package
# title: Index strings
# description: |
#   Sets of completion indexes as the Job API writes them: "0,3-5,9", strictly
#   increasing, every index below completions.
package podverdict.indexes

# METADATA
# description: The first fault of an index string, in the words of the API server; undefined when there is none.
fault(written, completions) := faults[0] if {
	not _legal(written, completions)
	part := _faulty_part(split(written, ","), completions)
	faults := [f |
		some i, fragment in part
		f := _fault(part, i, fragment, completions)
	]
}

# METADATA
# description: The number of indexes in an index string; 0 when it has a fault.
total(written, completions) := _length(written) if {
	not fault(written, completions)
} else := 0

# METADATA
# description: |
#   The first index that two index strings share, undefined when there is none.
#   Fragments with a fault are passed over. Of long strings with faults nothing
#   is said but the faults.
overlap(a, b, completions) := min(starts) if {
	_legal(a, completions)
	_legal(b, completions)
	intervals := sort(array.concat(_intervals(a, completions), _intervals(b, completions)))
	starts := [x |
		some i, [x, _] in intervals
		i > 0
		x <= intervals[i - 1][1]
	]
} else := shared[0] if {
	_short(a)
	_short(b)
	shared := _shared(_intervals(a, completions), _intervals(b, completions))
}

# Strings can be long. Builtins judge them without a step of Rego for each index, and
# find the part in which a fault is; each part starts with the end of the one before.
_faulty_part(fragments, completions) := [part |
	some start in numbers.range_step(0, count(fragments) - 1, 100)
	part := array.slice(fragments, start - 1, start + 100)
	not _legal(concat(",", part), completions)
][0]

_legal("", _) := true

_legal(written, completions) if _increasing(written, completions)

_legal(written, completions) if {
	regex.match(_padded, written)
	_increasing(regex.replace(written, `(^|[,-])\+?0*([0-9])`, "$1$2"), completions)
}

# A sign or leading zeros, which are legal.
_padded := `(^|[,-])(\+|0[0-9])`

_increasing(written, completions) if {
	regex.match(`^[0-9]{1,10}(-[0-9]{1,10})?(,[0-9]{1,10}(-[0-9]{1,10})?)*$`, written)
	bounds := json.unmarshal(sprintf("[%s]", [replace(written, "-", ",")]))
	bounds == sort(bounds)
	count(bounds) == count({bound | some bound in bounds})
	bounds[count(bounds) - 1] < completions
}

# An interval x-y has y - x indexes more than a single one.
_length("") := 0

_length(written) := count(split(written, ",")) + sum(steps) if {
	written != ""
	ranges := regex.find_n(`[0-9]+-\+?[0-9]+`, written, -1)
	steps := [step |
		some range in ranges
		[x, y] := [_integer(part) | some part in split(range, "-")]
		step := y - x
	]
}

_intervals(written, completions) := [interval |
	some fragment in split(written, ",")
	interval := _interval(fragment, completions)
]

_interval(fragment, completions) := [numbers[0], numbers[count(numbers) - 1]] if {
	not _fragment_fault(fragment, completions)
	numbers := [_integer(part) | some part in split(fragment, "-")]
}

_fault(_, _, fragment, completions) := _fragment_fault(fragment, completions)

_fault(fragments, i, fragment, completions) := _order_fault(before, start) if {
	i > 0
	[start, _] := _interval(fragment, completions)
	[_, before] := _interval(fragments[i - 1], completions)
	before >= start
}

_fragment_fault(fragment, completions) := sprintf(
	"the fragment %q violates the requirement that an index interval can have at most two parts separated by '-'",
	[fragment],
) if {
	count(split(fragment, "-")) > 2
} else := wrong if {
	wrong := _bound_fault(split(fragment, "-")[0], completions)
} else := wrong if {
	wrong := _bound_fault(split(fragment, "-")[1], completions)
} else := _order_fault(x, y) if {
	[x, y] := [_integer(part) | some part in split(fragment, "-")]
	x >= y
}

_bound_fault(bound, completions) := sprintf("cannot convert string to integer for index: %q", [bound]) if {
	not _is_integer(bound)
} else := sprintf("too large index: %q", [bound]) if {
	_integer(bound) >= completions
}

_order_fault(before, after) := sprintf("non-increasing order, previous: %d, current: %d", [before, after])

# A sign and leading zeros are legal, more than 64 bits are not.
_is_integer(text) if {
	regex.match(`^\+?[0-9]+$`, text)
	_integer(text) <= 9223372036854775807
}

_integer(text) := to_number(digits) if {
	digits := trim_left(trim_prefix(text, "+"), "0")
	digits != ""
} else := 0

_short(written) if count(written) < 200

# METADATA
# description: |
#   The shared indexes, in the order in which the API server finds them: it walks
#   both lists at once, always on from the smaller start, and trusts them to be
#   sorted. So a pair is compared when the greatest starts up to it say so.
_shared(first, second) := [max([x, u]) |
	firsts := _greatest(first)
	seconds := _greatest(second)
	some i, [x, y] in first
	some j, [u, v] in second
	seconds[j + 1] >= firsts[i]
	seconds[j] < firsts[i + 1]
	x <= v
	u <= y
]

# The greatest start before each interval, and of all.
_greatest(intervals) := array.concat([-1], [greatest |
	some i, _ in intervals
	greatest := max([x | some [x, _] in array.slice(intervals, 0, i + 1)])
])

# METADATA
# description: The indexes in an index string that are below completions. Undefined above 100000 completions.
members(written, completions) := {index |
	some [x, y] in _intervals(written, 2147483648)
	x < completions
	some index in numbers.range(x, min([y, completions - 1]))
} if {
	completions <= 100000
}

# METADATA
# description: |
#   True for an index string as the Job controller writes it: of three indexes and more
#   in a row the first and the last, and no signs or leading zeros.
canonical(written, completions) if {
	_legal(written, completions)
	not regex.match(_padded, written)
	intervals := _intervals(written, completions)
	not _pair_as_range(intervals)
	not _row_in_parts(intervals)
}

_pair_as_range(intervals) if {
	some [x, y] in intervals
	y == x + 1
}

# Two single neighbours stand alone; nothing else does beside a neighbour.
_row_in_parts(intervals) if {
	some i, [x, y] in intervals
	[following, end] := intervals[i + 1]
	following == y + 1
	not _two_in_a_row(intervals, i, x, end)
}

_two_in_a_row(intervals, i, x, end) if {
	end == x + 1
	not intervals[i + 2][0] == end + 1
}
