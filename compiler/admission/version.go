package admission

import (
	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/internal/kubeversion"
)

func checkVersion(kubernetes string) error {
	v, err := compiler.ParseVersion(kubernetes)
	if err != nil {
		return err
	}
	if v.LessThan(kubeversion.GeneratedPolicies) {
		return errKubernetes(kubernetes)
	}
	return nil
}
