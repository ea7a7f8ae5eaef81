package gathering

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podverdict/podverdict/controller/plan"
	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/runtime"
)

// Record is a Job or a Pod of the input.
type Record struct { //nolint:recvcheck // decoding is what changes it
	Job *batchv1.Job
	Pod *corev1.Pod
	// Verdict is the verdict recorded when the Pod failed, or nil.
	Verdict *runtime.Verdict
	Origin  manifest.Origin
}

// Key returns the key that the records of one Job share: its namespace and name. A Pod of no Job has its own key.
func (r Record) Key() string {
	ref, _ := r.jobRef("")
	if ref.Name == "" {
		return ref.Namespace + "//" + r.Pod.Name
	}
	return ref.Namespace + "/" + ref.Name
}

// jobRef returns the reference of the record's Job: the Job itself, or the Job that the Pod belongs to. The name is empty for a Pod of no
// Job. says reports whether a Pod names a controller or a Job. The given namespace is the default.
func (r Record) jobRef(namespace string) (ref manifest.Reference, says bool) {
	if r.Job != nil {
		return manifest.Job{Object: r.Job, Namespace: namespace}.Reference(), true
	}
	claim, says := manifest.ClaimOf(r.Pod)
	return manifest.Reference{Namespace: manifest.Pod{Object: r.Pod, Namespace: namespace}.Reference().Namespace, Name: claim.Name}, says
}

// sortKey returns the bytes by which records are sorted. ref is the reference of the record's Job.
func (r Record) sortKey(ref manifest.Reference) []byte {
	key := make([]byte, 0, 96)
	key = append(append(append(append(key, ref.Namespace...), 0), ref.Name...), 0)
	if r.Job != nil {
		return append(append(key, 'J'), r.Job.UID...)
	}
	end := endOf(r.Pod)
	key = binary.BigEndian.AppendUint64(append(key, 'P'), uint64(end.Unix())^1<<63) //nolint:gosec // the sign is turned, so that bytes compare as numbers
	key = append(append(append(key, r.Pod.Name...), 0), r.Pod.UID...)
	return key
}

// jobOfKey returns the part of a sort key that the records of one Job share.
func jobOfKey(key []byte) []byte {
	namespace := bytes.IndexByte(key, 0) + 1
	return key[:namespace+bytes.IndexByte(key[namespace:], 0)+1]
}

// endOf returns the end time of a Pod. A Pod that has not ended sorts after all others.
func endOf(pod *corev1.Pod) time.Time {
	if !hasEnded(pod) {
		return time.Unix(1<<40, 0)
	}
	return plan.FinishTime(pod)
}

func hasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// Marshal encodes the record deterministically.
func (r Record) Marshal() ([]byte, error) {
	place, kind, object := r.Origin.AppendPlace(nil), byte('P'), sized(r.Pod)
	if r.Job != nil {
		kind, object = 'J', r.Job
	}
	size := object.Size()
	encoded := make([]byte, 0, len(place)+size+2*binary.MaxVarintLen32+1)
	encoded = append(appendSize(append(encoded, kind), len(place)), place...)
	encoded = appendSize(encoded, size)
	begin := len(encoded)
	encoded = encoded[:begin+size]
	if _, err := object.MarshalToSizedBuffer(encoded[begin:]); err != nil || r.Verdict == nil {
		return encoded, err
	}
	verdict, err := json.Marshal(r.Verdict)
	return append(encoded, verdict...), err
}

// sized is a Kubernetes object that can be encoded into a buffer of its size.
type sized interface {
	Size() int
	MarshalToSizedBuffer(data []byte) (int, error)
}

func appendSize(to []byte, size int) []byte {
	return binary.AppendUvarint(to, uint64(size)) //nolint:gosec // no size is below 0
}

// cutSized splits encoded bytes after a part that is preceded by its size. ok is false if there are too few bytes.
func cutSized(encoded []byte) (part, rest []byte, ok bool) {
	size, n := binary.Uvarint(encoded)
	if n <= 0 || size > uint64(len(encoded)-n) { //nolint:gosec // n is at most the length
		return nil, nil, false
	}
	end := n + int(size) //nolint:gosec // no more than there are bytes
	return encoded[n:end], encoded[end:], true
}

var errRecord = errors.New("a record in a temporary file cannot be read")

// Unmarshal decodes a record encoded by Marshal.
func (r *Record) Unmarshal(encoded []byte) (err error) {
	if len(encoded) == 0 {
		return errRecord
	}
	place, rest, ok := cutSized(encoded[1:])
	object, verdict, also := cutSized(rest)
	if !ok || !also {
		return errRecord
	}
	if r.Origin, err = manifest.OriginAt(place); err != nil {
		return err
	}
	switch encoded[0] {
	case 'J':
		r.Job = &batchv1.Job{TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}}
		return r.Job.Unmarshal(object)
	case 'P':
		r.Pod = &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
		if err = r.Pod.Unmarshal(object); err == nil && len(verdict) > 0 {
			err = json.Unmarshal(verdict, &r.Verdict)
		}
		return err
	default:
		return errRecord
	}
}

// better reports whether r is preferred among two records of one object: the one that has ended, then the one with a verdict, then the
// later one. The choice does not depend on the order of the input.
func (r Record) better(other Record) bool {
	switch newer := r.compareVersion(other); {
	case r.ended() != other.ended():
		return r.ended()
	case (r.Verdict != nil) != (other.Verdict != nil):
		return r.Verdict != nil
	case newer != 0:
		return newer > 0
	}
	mine, _ := r.Marshal()
	its, _ := other.Marshal()
	return bytes.Compare(mine, its) > 0
}

func (r Record) ended() bool {
	if r.Job != nil {
		return plan.Finished(r.Job)
	}
	return hasEnded(r.Pod)
}

// compareVersion compares resource versions, which are whole numbers without leading zeros.
func (r Record) compareVersion(other Record) int {
	version := func(r Record) string {
		if r.Job != nil {
			return r.Job.ResourceVersion
		}
		return r.Pod.ResourceVersion
	}
	mine, its := version(r), version(other)
	return cmp.Or(cmp.Compare(len(mine), len(its)), cmp.Compare(mine, its))
}

// same reports whether two records are of the same object: they have the same UID, or if they have none the same name and creation time.
func (r Record) same(other Record) bool {
	mine, its := r.identity(), other.identity()
	return mine != "" && mine == its
}

// identity returns a string that identifies an object among those of its Job, or "" for an object that was never in a cluster.
func (r Record) identity() string {
	var object metav1.Object = r.Pod
	if r.Job != nil {
		object = r.Job
	}
	created := object.GetCreationTimestamp()
	switch {
	case object.GetUID() != "":
		return string(object.GetUID())
	case created.IsZero():
		return ""
	}
	return object.GetName() + " of " + created.UTC().String()
}

// entry is a record with its sort key.
type entry struct {
	key    []byte
	record Record
	job    *manifest.Job // set if the Job has more data than its record
}

// packed is an encoded record with its sort key.
type packed struct{ key, encoded []byte }

// pack encodes a record. ref is the reference of its Job.
func pack(r Record, ref manifest.Reference) (p packed, err error) {
	p.encoded, err = r.Marshal()
	p.key = r.sortKey(ref)
	return p, err
}

// size returns the memory that p needs, in bytes.
func (p packed) size() int { return len(p.key) + len(p.encoded) + 64 }

func (p packed) entry() (e entry, err error) {
	e.key = p.key
	return e, e.record.Unmarshal(p.encoded)
}

func sortPacked(all []packed) {
	slices.SortFunc(all, func(a, b packed) int {
		if c := bytes.Compare(a.key, b.key); c != 0 {
			return c
		}
		return bytes.Compare(a.encoded, b.encoded)
	})
}
