package plan

import (
	"hash/fnv"
	"math"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// maxNameLength is how long the names of pods get: that of a DNS label, as upstream's.
const maxNameLength = 63

// maxNumber is the highest slot, and the highest number of an attempt, that a name may have. The API has no room for more
// completions.
const maxNumber = math.MaxInt32

// namer names the pods of one Job.
type namer struct {
	job string
	tag string // tells Jobs of the same name apart, and names that were cut
}

func newNamer(job *batchv1.Job) namer { return namer{job.Name, tagOf(job.UID)} }

func tagOf(uid types.UID) string {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(uid))                 // never fails
	const alphabet = "bcdfghjklmnpqrstvwxz2456789" // no vowels, so no words
	tag := make([]byte, 5)
	sum := hash.Sum32()
	for i := range tag {
		tag[i] = alphabet[sum%uint32(len(alphabet))]
		sum /= uint32(len(alphabet))
	}
	return string(tag)
}

// Made tells whether a pod has a name that Next gave it. Its Job need not be there any more: the UID is in the pod's owner
// reference or, when that was taken away, in its label.
func Made(p *corev1.Pod) bool {
	uid := types.UID(p.Labels[batchv1.ControllerUidLabel])
	if owner := metav1.GetControllerOfNoCopy(p); owner != nil {
		uid = owner.UID
	}
	parts := strings.Split(p.Name, "-")
	if uid == "" || len(parts) < 4 || parts[len(parts)-1] != tagOf(uid) {
		return false
	}
	job := strings.Join(parts[:len(parts)-3], "-") // as far as the name has it
	_, _, ok := namer{job, tagOf(uid)}.parse(p.Name)
	return ok
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
	if slotErr != nil || attemptErr != nil || max(slot, attempt) > maxNumber || n.name(slot, attempt) != name {
		return 0, 0, false
	}
	return slot, attempt, true
}
