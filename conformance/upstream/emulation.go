package upstream

import (
	"sync"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"

	"github.com/podverdict/podverdict/compiler"
)

// gate guards upstream's feature gate, which is one per process: the version
// that it emulates must stay the same while a matcher runs.
var gate sync.Mutex

// Emulate sets upstream's feature gate to the defaults of a Kubernetes minor, such
// as "1.28"; empty is compiler.DefaultVersion. Nobody else can set it until the
// caller calls release. It fails for a version that compiler.ParseVersion does not
// take: the last one that it takes is the one linked here.
func Emulate(kubernetes string) (release func(), err error) {
	if kubernetes == "" {
		kubernetes = compiler.DefaultVersion
	}
	wanted, err := compiler.ParseVersion(kubernetes)
	if err != nil {
		return nil, err
	}
	mutable, ok := utilfeature.DefaultMutableFeatureGate.(featuregate.MutableVersionedFeatureGateWithLogger)
	if !ok {
		return nil, errNoEmulation
	}
	gate.Lock()
	// No logger: it warns that a feature changes which was read before. It is meant to.
	if err := mutable.SetEmulationVersionWithLogger(klog.Logger{}, wanted); err != nil {
		gate.Unlock()
		return nil, badVersion(kubernetes, err)
	}
	return gate.Unlock, nil
}
