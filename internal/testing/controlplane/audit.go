package controlplane

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// auditLog is the name of the log in the control plane's directory.
const auditLog = "audit.log"

// auditPolicy logs completed writes with their annotations, except for the frequent writes of the API server itself, of
// components and of events.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  verbs: [get, list, watch]
- level: None
  users: [system:apiserver]
- level: None
  resources:
  - group: coordination.k8s.io
  - group: events.k8s.io
- level: Metadata
`

// AuditLog returns the audited writes in a namespace, ordered by completion, including dry runs and rejected writes. The
// namespace "" means all. Level Metadata has the annotations, for example those added by admission policies. A write may
// appear in the log a moment after its response: poll for it.
func (c *Cluster) AuditLog(t testing.TB, namespace string) []auditv1.Event {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(c.directory, auditLog))
	if err != nil {
		t.Fatal(err)
	}
	var events []auditv1.Event
	for line := range bytes.Lines(content) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // being written
		}
		var event auditv1.Event
		if err := json.Unmarshal(line, &event); err != nil {
			t.Fatal(err)
		}
		if namespace == "" || event.ObjectRef != nil && event.ObjectRef.Namespace == namespace {
			events = append(events, event)
		}
	}
	return events
}
