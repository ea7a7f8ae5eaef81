package custom

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/podverdict/podverdict/compiler"
	"github.com/podverdict/podverdict/compiler/custom/library"
	"github.com/podverdict/podverdict/compiler/custom/schema"
)

// Names of what an expression is about.
const (
	PodVariable     = "pod"
	JobVariable     = "job"
	AttemptVariable = "attempt"
	NowVariable     = "now"
	// VariablesVariable is what the names of a policy's variables stand behind.
	VariablesVariable = "variables"
)

// Environment is the API server's CEL environment of one Kubernetes minor version, as
// policies see it. It is safe for concurrent use.
type Environment struct {
	// Kubernetes is the version, as in "1.36".
	Kubernetes string

	schema *schema.Schema
	// ofJob is for match conditions, ofFailed for rules on Failed and for variables,
	// ofPending for rules on Pending.
	ofJob, ofFailed, ofPending *cel.Env
}

// NewEnvironment returns the environment of a Kubernetes version that
// compiler.ParseVersion takes. It takes milliseconds: make one and keep it.
//
// Fields of Pod and Job are those of the newest version that the compiler knows,
// whatever the version asked for: a field that a cluster does not have yet is absent.
func NewEnvironment(kubernetes string) (*Environment, error) {
	v, err := compiler.ParseVersion(kubernetes)
	if err != nil {
		return nil, err
	}
	e := &Environment{Kubernetes: v.String(), schema: schema.New()}
	base := environment.MustBaseEnvSet(v).NewExpressionsEnv()
	e.ofJob, err = base.Extend(
		cel.CustomTypeProvider(library.Provider(e.schema.Provider(base.CELTypeProvider()))),
		cel.CustomTypeAdapter(e.schema.Adapter(base.CELTypeAdapter())),
		cel.Variable(JobVariable, e.schema.Job.CEL),
		cel.EnableMacroCallTracking(), // so that expressions can be printed in hints
	)
	if err != nil {
		return nil, errEnvironment(kubernetes, err)
	}
	e.ofFailed, err = e.ofJob.Extend(append(library.Options(e.schema.Pod.CEL),
		cel.Variable(PodVariable, e.schema.Pod.CEL),
		cel.Variable(AttemptVariable, types.IntType))...)
	if err != nil {
		return nil, errEnvironment(kubernetes, err)
	}
	e.ofPending, err = e.ofFailed.Extend(cel.Variable(NowVariable, types.TimestampType))
	if err != nil {
		return nil, errEnvironment(kubernetes, err)
	}
	return e, nil
}

// known is whether a type is one of podverdict's.
func (e *Environment) known(name string) bool {
	_, ok := e.schema.Type(name)
	return ok || name == library.ContainerName || name == library.ConditionName
}
