package plan

import (
	"math"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Labels of pods that Next names. They repeat the contents of the name, for people and for Made: labels can be edited,
// names cannot.
const (
	// AttemptLabel holds the attempt number, from 1.
	AttemptLabel = "podverdict.io/attempt"
	// SlotLabel holds the slot of a pod without an index.
	SlotLabel = "podverdict.io/slot"
)

// maxNameLength is the maximum length of pod names: a DNS label, as upstream.
const maxNameLength = 63

// maxNumber is the highest slot or attempt in a name. The API does not allow more completions.
const maxNumber = math.MaxInt32

// namer names the pods of one Job as upstream does, JOB-INDEX-CODE or JOB-CODE. Upstream's code is random. Here it is the
// attempt, or slot and attempt, encoded by the Job's cipher, so that they can be read from the name.
//
// The longer form JOB-SLOT-ATTEMPT-TAG is used for the few numbers without a code. Older programs used it for all pods.
// Its tag never equals a code, so a name has exactly one form.
type namer struct {
	job     string
	indexed bool
	cipher  cipher
}

func newNamer(job *batchv1.Job) namer {
	return namer{job.Name, completionMode(job) == batchv1.IndexedCompletion, newCipher(job.UID)}
}

// Made reports whether Next named a pod. The Job may be gone: the UID comes from the pod's owner reference or, without
// one, from its label.
func Made(p *corev1.Pod) bool {
	_, _, made := Place(p)
	return made
}

// Place returns the slot of a pod that Next named, and its attempt number, from 1. Every code decodes to some number, so
// a short name counts only if the pod's labels agree.
func Place(p *corev1.Pod) (slot, attempt int, made bool) {
	uid := types.UID(p.Labels[batchv1.ControllerUidLabel])
	if owner := metav1.GetControllerOfNoCopy(p); owner != nil {
		uid = owner.UID
	}
	if uid == "" {
		return 0, 0, false
	}
	n := namer{cipher: newCipher(uid)}
	if beginning, long := strings.CutSuffix(p.Name, "-"+n.cipher.tag); long {
		parts := strings.Split(beginning, "-")
		n.job = strings.Join(parts[:max(0, len(parts)-2)], "-") // the part of the Job's name that is in the pod's name
		slot, attempt, made = n.parseLong(p.Name)
		return slot, attempt + 1, made
	}
	if slot, attempt, made = n.labels(p, SlotLabel); !made {
		n.indexed = true
		slot, attempt, made = n.labels(p, batchv1.JobCompletionIndexAnnotation)
	}
	return slot, attempt, made
}

// labels returns the slot and the attempt, from 1, in a pod's labels. It returns false if the pod's short name does not
// match them.
func (n namer) labels(p *corev1.Pod, slotLabel string) (slot, attempt int, ok bool) {
	slot, slotErr := strconv.Atoi(p.Labels[slotLabel])
	attempt, attemptErr := strconv.Atoi(p.Labels[AttemptLabel])
	if slotErr != nil || attemptErr != nil {
		return 0, 0, false
	}
	ending, short := n.ending(slot, attempt-1)
	return slot, attempt, short && strings.HasSuffix(p.Name, ending)
}

// place returns the slot and the attempt, from 0, if a podverdict controller named the pod for the Job. A Job read from a
// file may have no UID. If the pod may belong to another Job, its name counts only if its labels agree.
func (n namer) place(job *batchv1.Job, p *corev1.Pod) (slot, attempt int, ok bool) {
	if Controls(job, p) {
		return n.parse(p.Name)
	}
	slot, attempt, ok = Place(p)
	return slot, attempt - 1, ok
}

// name returns the name of the pod for an attempt at a slot.
func (n namer) name(slot, attempt int) string {
	ending, short := n.ending(slot, attempt)
	if !short {
		return n.longName(slot, attempt)
	}
	beginning := n.job
	if !n.indexed {
		beginning += "-"
	}
	return beginning[:min(len(beginning), maxNameLength-len(ending))] + ending
}

// ending returns the suffix of an attempt's short name. Upstream truncates a Job name that is too long before it. ending
// returns false if the attempt has no short name.
func (n namer) ending(slot, attempt int) (string, bool) {
	if min(slot, attempt) < 0 {
		return "", false
	}
	number, short := (int64(slot)*stride+int64(attempt))%codes, attempt < codes
	prefix := "-" + strconv.Itoa(slot) + "-"
	if !n.indexed {
		number, short = pair(slot, attempt)
		prefix = ""
	}
	code := n.cipher.encode(number)
	return prefix + code, short && code != n.cipher.tag
}

func (n namer) longName(slot, attempt int) string {
	suffix := "-" + strconv.Itoa(slot) + "-" + strconv.Itoa(attempt) + "-" + n.cipher.tag
	prefix := n.job
	if longest := maxNameLength - len(suffix); len(prefix) > longest {
		prefix = strings.TrimRight(prefix[:longest], "-.")
	}
	return prefix + suffix
}

// parse is the inverse of name. It accepts the long form for any attempt, because older programs used it.
func (n namer) parse(name string) (slot, attempt int, ok bool) {
	beginning := name[:max(0, len(name)-codeLength)]
	code := name[len(beginning):]
	if code == n.cipher.tag {
		return n.parseLong(name)
	}
	number, ok := n.cipher.decode(code)
	if n.indexed {
		slot = lastNumber(beginning, 1)
		attempt = int((number + codes - int64(slot)*stride%codes) % codes)
	} else {
		slot, attempt = unpair(number)
	}
	if !ok || slot == none || n.name(slot, attempt) != name {
		return 0, 0, false
	}
	return slot, attempt, true
}

func (n namer) parseLong(name string) (slot, attempt int, ok bool) {
	beginning := strings.TrimSuffix(name, n.cipher.tag)
	slot, attempt = lastNumber(beginning, 2), lastNumber(beginning, 1)
	if min(slot, attempt) == none || n.longName(slot, attempt) != name {
		return 0, 0, false
	}
	return slot, attempt, true
}

// lastNumber returns a number from the end of text such as train-3-0-, where place 1 is the last one; none if there is no
// such number.
func lastNumber(text string, place int) int {
	parts := strings.Split(text, "-")
	if place >= len(parts) {
		return none
	}
	number, err := strconv.Atoi(parts[len(parts)-1-place])
	if err != nil || number < 0 || number > maxNumber {
		return none
	}
	return number
}
