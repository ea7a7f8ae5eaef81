package running

import (
	"errors"
	"fmt"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/podverdict/podverdict/controller/internal/caches"
)

// TestLoggedFailures checks that only errors that need attention are logged as errors, not the ones
// that resolve themselves.
func TestLoggedFailures(t *testing.T) {
	var lines []string
	logger := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
	ctx, key := klog.NewContext(t.Context(), logger), types.NamespacedName{Namespace: "n", Name: "p"}
	conflict := apierrors.NewConflict(corev1.Resource("pods"), "p", errors.New("changed"))
	logFailure(ctx, fmt.Errorf("remove the finalizer: %w", conflict), key, 1)
	logFailure(ctx, caches.LacksError(&corev1.Pod{}), key, 1)
	if len(lines) > 0 {
		t.Errorf("logged by default: %s", lines)
	}
	logFailure(ctx, errors.New("no disk"), key, 2)
	want := []string{`"msg"="Will try again" "error"="no disk" "key"={"name"="p" "namespace"="n"} "failures"=2`}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
