package plan

import (
	"hash/fnv"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
)

// maxNameLength is how long the names of pods get: that of a DNS label, as upstream's.
const maxNameLength = 63

// namer names the pods of one Job.
type namer struct {
	job string
	tag string // tells Jobs of the same name apart, and names that were cut
}

func newNamer(job *batchv1.Job) namer {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(job.UID))             // never fails
	const alphabet = "bcdfghjklmnpqrstvwxz2456789" // no vowels, so no words
	tag := make([]byte, 5)
	sum := hash.Sum32()
	for i := range tag {
		tag[i] = alphabet[sum%uint32(len(alphabet))]
		sum /= uint32(len(alphabet))
	}
	return namer{job.Name, string(tag)}
}

// name is that of an attempt at a slot.
func (n namer) name(slot, attempt int) string {
	suffix := "-" + strconv.Itoa(slot) + "-" + strconv.Itoa(attempt) + "-" + n.tag
	prefix := n.job
	if longest := maxNameLength - len(suffix); len(prefix) > longest {
		prefix = strings.TrimRight(prefix[:longest], "-.")
	}
	return prefix + suffix
}

// parse is the inverse of name.
func (n namer) parse(name string) (slot, attempt int, ok bool) {
	parts := strings.Split(name, "-")
	if len(parts) < 4 || parts[len(parts)-1] != n.tag {
		return 0, 0, false
	}
	slot, slotErr := strconv.Atoi(parts[len(parts)-3])
	attempt, attemptErr := strconv.Atoi(parts[len(parts)-2])
	if slotErr != nil || attemptErr != nil || n.name(slot, attempt) != name {
		return 0, 0, false
	}
	return slot, attempt, true
}
