package podverdict.indexes_test

import data.podverdict.indexes

test_legal_strings_have_no_fault if {
	every written in ["", "0", "0,1", "0-9", "0,2-4,9", "+1", "01,2", "0-1,2,3"] {
		not indexes.fault(written, 10)
	}
}

# The faults are those of the rules on success policies; here is that the first counts.
test_the_first_fault_counts if {
	indexes.fault("0,x,y", 10) == `cannot convert string to integer for index: "x"`
	indexes.fault("5,4,x", 10) == "non-increasing order, previous: 5, current: 4"
	indexes.fault("1-1,x", 10) == "non-increasing order, previous: 1, current: 1"
	indexes.fault("10-11", 10) == `too large index: "10"`
	indexes.fault("1-", 10) == `cannot convert string to integer for index: ""`
}

test_totals if {
	every written, total in {"": 0, "0": 1, "0,2-4": 4, "0-9": 10, "+0-+3,05": 5, "x": 0} {
		indexes.total(written, 10) == total
	}
}

test_overlaps if {
	indexes.overlap("0-5,8", "3-4", 10) == 3
	indexes.overlap("3-4", "0-3", 10) == 3
	indexes.overlap("0,2,4", "4,6", 10) == 4
	indexes.overlap("x,0,2", "2", 10) == 2
}

test_no_overlaps if {
	not indexes.overlap("", "0", 10)
	not indexes.overlap("0-4", "5-9", 10)
	not indexes.overlap("0,2,4", "8,4", 10)
	not indexes.overlap("5,2", "6,2", 10)
}

test_members if {
	indexes.members("0,2-4,8-12", 10) == {0, 2, 3, 4, 8, 9}
	indexes.members("12", 10) == set()
	not indexes.members("0", 100001)
}

test_canonical_form if {
	every written in ["", "0", "0,1", "0,1,3,4", "0-2,4", "0-2,4-6", "0,1,3-5"] {
		indexes.canonical(written, 10)
	}
	every written in ["0-1", "0,1,2", "0-2,3", "0,1-3", "01", "0-1,3", "0-2,3-5", "x"] {
		not indexes.canonical(written, 10)
	}
}
