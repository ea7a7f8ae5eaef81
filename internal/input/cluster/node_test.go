package cluster

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestNodes checks that only the named nodes are read, up to the limit. A missing node and missing permissions are not errors.
func TestNodes(t *testing.T) {
	node := send(corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	forbidden := refuse(http.StatusForbidden, metav1.StatusReasonForbidden)
	many := make([]string, maxNodes+1)
	for i := range many {
		many[i] = fmt.Sprint("node-", i)
	}
	for _, test := range []struct {
		about  string
		names  []string
		a      answer
		found  []string
		unread string
		asked  int
	}{
		{"none", nil, node, nil, "", 0},
		{"one, and one that is gone", []string{"a", "b"}, node, []string{"a"}, "", 2},
		{"not allowed", []string{"a", "b"}, forbidden, nil, "they may not be read\nsee kubectl auth can-i get nodes", 1},
		{"too many", many, node, nil, "the Pods are on 501 nodes, and at most 500 are asked for", 0},
	} {
		t.Run(test.about, func(t *testing.T) {
			s := newServer(t, map[string][]answer{"list /api/v1/nodes/a": {test.a}})
			found, unread, err := s.cluster(t).Nodes(t.Context(), test.names)
			var names []string
			for name := range found {
				names = append(names, name)
			}
			if err != nil || !slices.Equal(names, test.found) || !strings.HasPrefix(unread, test.unread) || (unread == "") != (test.unread == "") {
				t.Errorf("found %q, unread %q: %v", names, unread, err)
			}
			if asked := len(s.asked("list /api/v1/nodes")); asked != test.asked {
				t.Errorf("%d requests, want %d", asked, test.asked)
			}
		})
	}
	s := newServer(t, map[string][]answer{"list /api/v1/nodes/a": {refuse(http.StatusInternalServerError, metav1.StatusReasonInternalError)}})
	if _, _, err := s.cluster(t).Nodes(t.Context(), []string{"a"}); err == nil || !strings.Contains(err.Error(), "cannot get nodes") {
		t.Errorf("the error is %v", err)
	}
}
