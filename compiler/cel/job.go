package cel

import (
	"math"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"
)

// FailedIndexCount returns the number of indexes in failedIndexes of the Job's status (KEP-3850). It returns 0 if the
// field is absent, or is not a list of ascending indexes such as 0,2-4.
func FailedIndexCount(job *batchv1.Job) int64 {
	text := ptr.Deref(job.Status.FailedIndexes, "")
	if text == "" {
		return 0
	}
	count, next := int64(0), int64(0)
	for part := range strings.SplitSeq(text, ",") {
		from, to, ranged := strings.Cut(part, "-")
		if !ranged {
			to = from
		}
		first, err := strconv.ParseInt(from, 10, 64)
		last, lastErr := strconv.ParseInt(to, 10, 64)
		if err != nil || lastErr != nil || first < next || last < first || last > math.MaxInt32 {
			return 0
		}
		count, next = count+last-first+1, last+1
	}
	return count
}
