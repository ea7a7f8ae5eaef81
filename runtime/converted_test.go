package runtime_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

// converted returns an object as a map without nulls, which have no meaning.
func converted(tb testing.TB, object any) any {
	tb.Helper()
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		tb.Fatal(err)
	}
	return withoutNulls(m)
}
