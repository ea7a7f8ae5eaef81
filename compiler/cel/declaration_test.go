package cel_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/go-cmp/cmp"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/openapi"

	"github.com/podverdict/podverdict/compiler/admission/kind"
	"github.com/podverdict/podverdict/compiler/cel"
)

// TestTypesAreThoseOfTheAPIServer compares the schema with the types that the API server's type
// checker derives from the OpenAPI schema of Jobs, which includes the pod spec.
func TestTypesAreThoseOfTheAPIServer(t *testing.T) {
	job, err := kind.Job()
	if err != nil {
		t.Fatal(err)
	}
	declared := common.SchemaDeclType(&openapi.Schema{Schema: job.Schema}, true)
	s := cel.Load()
	c := comparison{t: t, schema: s, seen: map[string]bool{}}
	c.object(s.Job, declared)
	if len(c.seen) < 50 {
		t.Errorf("only %d types compared", len(c.seen))
	}
	// Quantities, which the API server does not type-check, are strings as in its CEL for
	// CustomResourceDefinitions.
	want := []string{
		"ManagedFieldsEntry.fieldsV1 is the API server's only",
		"ResourceFieldSelector.divisor is ours only",
		"ResourceRequirements.limits is ours only",
		"ResourceRequirements.requests is ours only",
		"PodSpec.overhead is ours only",
		"EmptyDirVolumeSource.sizeLimit is ours only",
		"VolumeResourceRequirements.limits is ours only",
		"VolumeResourceRequirements.requests is ours only",
	}
	if diff := cmp.Diff(want, c.different); diff != "" {
		t.Errorf("types that are different (-want +got):\n%s", diff)
	}
}

type comparison struct {
	t         *testing.T
	schema    *cel.Schema
	seen      map[string]bool
	different []string
}

func (c *comparison) object(typ *cel.Type, declared *apiservercel.DeclType) {
	if c.seen[typ.Name] {
		return
	}
	c.seen[typ.Name] = true
	names := map[string]bool{}
	for _, f := range typ.Fields {
		name, _ := apiservercel.Escape(f.Name)
		names[name] = true
		d, ok := declared.Fields[name]
		if !ok {
			c.different = append(c.different, typ.Name+"."+f.Name+" is ours only")
			continue
		}
		c.value(typ.Name+"."+f.Name, f.Type, d.Type)
	}
	for _, name := range slices.Sorted(maps.Keys(declared.Fields)) {
		if !names[name] {
			c.different = append(c.different, typ.Name+"."+name+" is the API server's only")
		}
	}
}

func (c *comparison) value(path string, typ *types.Type, declared *apiservercel.DeclType) {
	switch {
	case typ.Kind() == types.StructKind && declared.IsObject():
		object, ok := c.schema.Type(typ.TypeName())
		if !ok {
			c.t.Fatalf("%s: no type %s", path, typ.TypeName())
		}
		c.object(object, declared)
	case typ.Kind() == types.ListKind && declared.IsList():
		c.value(path+"[]", typ.Parameters()[0], declared.ElemType)
	case typ.Kind() == types.MapKind && declared.IsMap():
		c.value(path+"{}", typ.Parameters()[1], declared.ElemType)
	case !typ.IsExactType(declared.CelType()):
		c.different = append(c.different, path+" is "+typ.String()+", the API server has "+declared.CelType().String())
	}
}
