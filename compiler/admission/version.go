package admission

import (
	"fmt"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/kube/kubeversion"
)

func checkVersion(kubernetes string) error {
	v, err := compiler.ParseVersion(kubernetes)
	if err != nil {
		return err
	}
	if v.LessThan(kubeversion.GeneratedPolicies) {
		return fmt.Errorf("kubernetes version %q: generated policies need %s to %s: ValidatingAdmissionPolicy v1 with two-variable comprehensions",
			kubernetes, kubeversion.GeneratedPolicies, kubeversion.Last)
	}
	return nil
}
