package admission

import (
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/podverdict/podverdict/compiler"
)

// firstVersion is the first minor version of Kubernetes whose API server has all that generated policies use: it
// compiles new expressions for the version before its own, and two-variable comprehensions came with 1.32.
var firstVersion = version.MajorMinor(1, 33)

func checkVersion(kubernetes string) error {
	v, err := compiler.ParseVersion(kubernetes)
	if err != nil {
		return err
	}
	if v.LessThan(firstVersion) {
		return errKubernetes(kubernetes)
	}
	return nil
}
