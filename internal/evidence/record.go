package evidence

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podverdict/podverdict/internal/input/manifest"
	"github.com/podverdict/podverdict/runtime"
)

// Record is a Job or a Pod as the input has it. Both must have a namespace.
type Record struct { //nolint:recvcheck // decoding is what changes it
	Job *batchv1.Job
	Pod *corev1.Pod
	// Verdict is what was decided on the Pod when it failed, if that is known.
	Verdict *runtime.Verdict
}

// Key returns what records of one Job have in common: its namespace and its name. A Pod of no Job has a key of its own.
func (r Record) Key() string {
	if r.Job != nil {
		return r.Job.Namespace + "/" + r.Job.Name
	}
	if claim, _ := manifest.ClaimOf(r.Pod); claim.Name != "" {
		return r.Pod.Namespace + "/" + claim.Name
	}
	return r.Pod.Namespace + "//" + r.Pod.Name
}

// Marshal encodes the record. The result is the same for the same record.
func (r Record) Marshal() ([]byte, error) {
	if r.Job != nil {
		object, err := r.Job.Marshal()
		return append([]byte{'J'}, object...), err
	}
	size := r.Pod.Size()
	encoded := binary.AppendUvarint(append(make([]byte, 0, size+8), 'P'), uint64(size)) //nolint:gosec // no size is below 0
	begin := len(encoded)
	encoded = encoded[:begin+size]
	if _, err := r.Pod.MarshalToSizedBuffer(encoded[begin:]); err != nil {
		return nil, err
	}
	if r.Verdict == nil {
		return encoded, nil
	}
	verdict, err := json.Marshal(r.Verdict)
	return append(encoded, verdict...), err
}

var errRecord = errors.New("a record that was kept cannot be read")

// Unmarshal decodes what Marshal has encoded.
func (r *Record) Unmarshal(encoded []byte) error {
	if len(encoded) > 0 && encoded[0] == 'J' {
		r.Job = &batchv1.Job{}
		return r.Job.Unmarshal(encoded[1:])
	}
	if len(encoded) == 0 || encoded[0] != 'P' {
		return errRecord
	}
	size, n := binary.Uvarint(encoded[1:])
	rest := encoded[1+max(n, 0):]
	if n <= 0 || size > uint64(len(rest)) {
		return errRecord
	}
	r.Pod = &corev1.Pod{}
	if err := r.Pod.Unmarshal(rest[:size]); err != nil || uint64(len(rest)) == size {
		return err
	}
	r.Verdict = &runtime.Verdict{}
	return json.Unmarshal(rest[size:], r.Verdict)
}

// better reports whether r is to be kept of two records of one object: the one that has ended, then the one with a verdict, then
// the later one. Which one it is never depends on the order of the input.
func (r Record) better(other Record) bool {
	switch less := r.compareVersion(other); {
	case r.ended() != other.ended():
		return r.ended()
	case (r.Verdict != nil) != (other.Verdict != nil):
		return r.Verdict != nil
	case less != 0:
		return less > 0
	}
	mine, _ := r.Marshal()
	its, _ := other.Marshal()
	return bytes.Compare(mine, its) > 0
}

func (r Record) ended() bool {
	if r.Job != nil {
		return stateOf(r.Job) != Unfinished
	}
	return r.Pod.Status.Phase == corev1.PodFailed || r.Pod.Status.Phase == corev1.PodSucceeded
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
