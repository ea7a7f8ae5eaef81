package structure

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	module = "github.com/podverdict/podverdict"
	root   = "../.."
)

// room is a folder with everything below it, except folders that are rooms themselves.
type room struct {
	folder  string
	imports []string // rooms whose packages this room may import
	avoids  []string // paths that must not be linked, directly or indirectly
	direct  []string // paths that must not be imported directly
}

var (
	noClient = slices.Concat([]string{"k8s.io/client-go"}, noCluster)
	// noCluster is used by packages that may link client-go, because the API server's own packages do.
	noCluster = []string{"k8s.io/cli-runtime", "k8s.io/kubectl", "k8s.io/kubernetes"}
	noOPA     = []string{"github.com/open-policy-agent"}
	// noServer lists the parts of the API server that are slow to link and to start, and packages that link or register the
	// kinds of all groups: client-go's typed clients, scheme, discovery and apply configurations. It also has kubectl's
	// printers, which execute templates, and OPA's package rego, which compiles to WebAssembly. The commands do not need them.
	noServer = []string{
		"k8s.io/apiserver/pkg/admission/plugin/policy", "k8s.io/apiserver/pkg/admission/plugin/webhook", "k8s.io/apiserver/pkg/server",
		"k8s.io/apiserver/pkg/storage", "k8s.io/apiserver/pkg/storageversion", "k8s.io/apiserver/pkg/util/webhook",
		"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation", "k8s.io/apiextensions-apiserver/pkg/controller",
		"k8s.io/apiserver/pkg/cel/openapi/resolver", "k8s.io/client-go/kubernetes", "k8s.io/client-go/discovery",
		"k8s.io/client-go/applyconfigurations", "k8s.io/client-go/testing", "k8s.io/client-go/gentype", "k8s.io/client-go/dynamic",
		"k8s.io/cli-runtime", "github.com/open-policy-agent/opa/v1/rego", "google.golang.org/grpc", "go.opentelemetry.io/otel/sdk",
		"net/http/pprof", "testing",
	}
	noIO = []string{"os", "net", "syscall"}
	// loopImports lists the rooms that a loop of the controller may import. Other loops are excluded, and so is package
	// policies, whose functions are passed to the loop.
	loopImports = []string{
		"api/v1alpha1", "compiler", "runtime", "runtime/binding", "controller/plan", "controller/internal/fair", "controller/metrics", "controller/internal/recorder",
		"controller/internal/caches", "internal/snapshot",
	}
)

// rooms lists the folders of the project, from the bottom up.
var rooms = []room{
	{folder: "internal/structure"},
	{folder: "playground/fields", imports: []string{"internal/kube/kubeversion"}},
	{folder: "internal/testing/race", direct: noIO},
	{folder: "controller/garbage", avoids: slices.Concat(noClient, noOPA), direct: noIO},
	{folder: "internal/terminal", direct: noIO},
	{folder: "internal/kube/failure", avoids: slices.Concat(noClient, noOPA), direct: noIO},
	{folder: "internal/testreport", avoids: slices.Concat(noClient, noOPA)},
	{folder: "internal/kube/kubeversion", avoids: slices.Concat(noClient, noOPA), direct: noIO},
	{folder: "internal/history", imports: []string{"api/v1alpha1", "compiler", "internal/kube/failure", "runtime", "runtime/binding", "controller/plan"}, avoids: slices.Concat(noClient, noOPA), direct: noIO},
	{folder: "internal/kube/jobdefaults", avoids: slices.Concat(noClient, noOPA), direct: noIO},
	{folder: "internal/kube/jobset", imports: []string{"internal/didyoumean", "internal/kube/jobdefaults"}, avoids: slices.Concat(noClient, noOPA), direct: noIO},
	{folder: "internal/kube/restart", imports: []string{"internal/kube/kubeversion"}, avoids: slices.Concat(noClient, noOPA), direct: noIO},
	{folder: "internal/kube/podstate", avoids: slices.Concat(noClient, noOPA), direct: noIO},
	{folder: "internal/kube/podstatus", imports: []string{"internal/kube/restart"}, avoids: slices.Concat(noClient, noOPA), direct: noIO},
	{folder: "internal/kube/scenarios", imports: []string{"internal/kube/jobdefaults", "internal/kube/podstatus", "internal/kube/restart"}, avoids: slices.Concat(noClient, noOPA), direct: noIO},
	{folder: "policies", imports: []string{"internal/kube/kubeversion"}, avoids: slices.Concat(noClient, noOPA)},
	{folder: "policies/internal/gengatekeeper", imports: []string{"policies", "compiler/admission"}, avoids: noCluster},
	{folder: "internal/catalogue", imports: []string{"policies"}, avoids: slices.Concat(noClient, noOPA)},
	{folder: "api/v1alpha1", avoids: slices.Concat(noClient, noOPA)},
	{folder: "config", avoids: slices.Concat(noClient, noOPA)},
	{folder: "compiler", imports: []string{"api/v1alpha1", "internal/didyoumean", "internal/kube/jobdefaults", "internal/kube/kubeversion", "internal/kube/restart"}, avoids: slices.Concat(noClient, noOPA), direct: noIO},
	{folder: "compiler/custom", imports: []string{"api/v1alpha1", "compiler", "internal/didyoumean"}, avoids: slices.Concat(noClient, noOPA), direct: noIO},
	{folder: "internal/testing/oldserver", imports: []string{"internal/kube/kubeversion"}, avoids: slices.Concat(noClient, noOPA), direct: noIO},
	{folder: "internal/testing/controlplane", imports: []string{"internal/kube/kubeversion"}},
	{folder: "internal/didyoumean", avoids: slices.Concat(noClient, noOPA), direct: noIO},
	{folder: "compiler/admission/kind", imports: []string{"internal/didyoumean"}, avoids: slices.Concat(noCluster, noOPA), direct: noIO},
	{folder: "compiler/admission/apiserver", imports: []string{
		"internal/kube/kubeversion", "compiler", "internal/didyoumean", "compiler/admission/kind",
	}, avoids: slices.Concat(noCluster, noOPA), direct: noIO},
	// evaluator is linked only by tests.
	{folder: "internal/testing/evaluator", imports: []string{"compiler/admission/apiserver"}, avoids: slices.Concat(noCluster, noOPA), direct: noIO},
	{folder: "compiler/admission", imports: []string{
		"internal/kube/jobdefaults", "internal/kube/kubeversion", "internal/catalogue", "policies", "api/v1alpha1", "compiler", "compiler/custom", "internal/didyoumean",
		"compiler/admission/kind", "compiler/admission/apiserver",
	}, avoids: noCluster, direct: noIO},
	{folder: "runtime", imports: []string{"api/v1alpha1", "compiler", "compiler/custom"}, avoids: slices.Concat(noClient, noOPA), direct: noIO},
	{folder: "runtime/binding", imports: []string{"api/v1alpha1", "compiler", "compiler/custom", "runtime"}, avoids: slices.Concat(noClient, noOPA), direct: noIO},
	{folder: "runtime/rego", imports: []string{"policies", "compiler", "runtime"}, avoids: noClient, direct: noIO},
	{folder: "controller/plan", imports: []string{"internal/kube/jobdefaults", "api/v1alpha1", "compiler", "runtime"}, avoids: slices.Concat(noClient, noOPA), direct: noIO},
	{folder: "controller/simulation", imports: []string{
		"internal/kube/failure", "internal/kube/jobdefaults", "internal/kube/jobset", "internal/kube/kubeversion", "internal/kube/podstate", "internal/kube/podstatus", "internal/kube/restart", "internal/kube/scenarios", "api/v1alpha1", "compiler",
		"compiler/custom", "runtime", "runtime/binding", "controller/plan", "internal/snapshot",
	}, avoids: slices.Concat(noClient, noOPA), direct: noIO},
	{folder: "internal/input/documents", avoids: slices.Concat(noClient, noOPA)},
	{folder: "internal/input/fielddecoder", imports: []string{"compiler"}, avoids: slices.Concat(noClient, noOPA), direct: noIO},
	{folder: "internal/input/manifest", imports: []string{
		"internal/input/documents", "internal/input/fielddecoder", "internal/didyoumean", "internal/kube/jobdefaults", "internal/kube/jobset", "internal/terminal", "api/v1alpha1", "compiler", "runtime",
	}, avoids: slices.Concat(noClient, noOPA)},
	{folder: "internal/input/cluster", imports: []string{"api/v1alpha1", "internal/didyoumean", "internal/input/manifest"}, avoids: noServer},
	{folder: "internal/effective", imports: []string{"internal/input/manifest", "api/v1alpha1", "compiler", "compiler/custom", "runtime", "runtime/binding"}, avoids: slices.Concat(noClient, noOPA), direct: noIO},
	{folder: "internal/snapshot", imports: []string{"api/v1alpha1", "compiler", "runtime", "runtime/binding", "controller/plan"}, avoids: slices.Concat(noClient, noOPA), direct: noIO},
	{folder: "internal/input/gathering", imports: []string{"internal/input/manifest", "compiler", "runtime", "controller/plan"}, avoids: slices.Concat(noClient, noOPA)},
	{folder: "internal/evidence", imports: []string{
		"internal/kube/failure", "internal/input/manifest", "internal/input/gathering", "internal/effective", "internal/snapshot", "api/v1alpha1", "compiler", "runtime", "controller/plan",
	}, avoids: slices.Concat(noClient, noOPA)},
	{folder: "internal/testing/dataset", imports: []string{"internal/input/gathering", "internal/kube/jobdefaults", "internal/kube/podstatus", "controller/plan"}, avoids: slices.Concat(noClient, noOPA), direct: noIO},
	{folder: "internal/testing/dataset/month", imports: []string{"internal/testing/dataset"}, avoids: slices.Concat(noClient, noOPA)},
	{folder: "controller/internal/fair", avoids: noOPA},
	{folder: "controller/metrics", imports: []string{"runtime", "controller/plan"}, avoids: noOPA},
	{folder: "controller/internal/recorder", imports: []string{"api/v1alpha1", "controller/internal/fair", "controller/metrics"}, avoids: noOPA},
	{folder: "controller/history", imports: []string{"internal/history", "runtime", "runtime/binding", "controller/plan", "controller/metrics"}, avoids: noOPA},
	{folder: "controller/internal/caches", imports: []string{"api/v1alpha1", "compiler", "compiler/custom", "internal/history", "internal/snapshot", "runtime", "runtime/binding", "controller/plan"}, avoids: noOPA},
	{folder: "controller/internal/policies", imports: []string{
		"api/v1alpha1", "compiler", "compiler/custom", "runtime", "runtime/binding", "controller/plan", "controller/internal/fair", "controller/metrics",
		"controller/internal/recorder", "controller/internal/caches",
	}, avoids: noOPA},
	{folder: "controller/internal/running", imports: loopImports, avoids: noOPA},
	{folder: "controller/internal/observing", imports: loopImports, avoids: noOPA},
	{folder: "controller/living", imports: loopImports, avoids: noOPA},
	{folder: "controller/leadership", avoids: noOPA},
	{folder: "controller/serving", avoids: noOPA},
	{folder: "internal/testing/fixtures", imports: []string{
		"api/v1alpha1", "compiler", "compiler/custom", "runtime", "runtime/binding", "controller/metrics",
	}, avoids: noOPA},
	{folder: "internal/testing/memoryapi", imports: []string{"internal/kube/jobdefaults", "api/v1alpha1", "runtime/rego"}},
	{folder: "controller", imports: []string{
		"api/v1alpha1", "compiler", "controller/plan", "controller/internal/fair", "controller/metrics", "controller/internal/recorder", "controller/internal/caches",
		"controller/internal/policies", "controller/internal/running", "controller/internal/observing", "controller/living", "controller/history",
	}, avoids: noOPA},
	{folder: "internal/testing/testcluster", imports: []string{"api/v1alpha1", "config", "controller", "internal/kube/podstatus", "internal/kube/restart", "internal/testing/controlplane"}, avoids: noOPA},
	// The root package is the engine that other programs import.
	{folder: ".", imports: []string{"api/v1alpha1", "compiler", "runtime", "runtime/binding", "controller/plan", "internal/snapshot"}, avoids: slices.Concat(noClient, noOPA), direct: noIO},
	// A program that uses the vectors need not link the engines for validation.
	{folder: "conformance", imports: []string{"compiler", "runtime"}, avoids: slices.Concat(noClient, noOPA), direct: noIO},
	{folder: "conformance/internal/document", avoids: slices.Concat(noClient, noOPA), direct: noIO},
	{folder: "conformance/reports", imports: []string{"internal/testreport", "internal/terminal"}, avoids: slices.Concat(noClient, noOPA), direct: noIO},
	{folder: "conformance/vectors", imports: []string{
		"compiler", "runtime", "conformance", "conformance/internal/document", "conformance/reports",
	}, avoids: slices.Concat(noClient, noOPA), direct: noIO},
	{folder: "conformance/protocol", imports: []string{"runtime", "conformance"}, avoids: slices.Concat(noClient, noOPA)},
	{folder: "internal/testing/generators", imports: []string{"compiler", "runtime"}, avoids: slices.Concat(noClient, noOPA), direct: noIO},
	{folder: "cmd/podverdict-controller", imports: []string{
		"api/v1alpha1", "compiler", "controller/plan", "controller/metrics", "controller/living", "controller/leadership", "controller/serving",
		"controller", "controller/history", "controller/garbage", "internal/terminal",
	}, avoids: noOPA},
	{folder: "cmd", imports: []string{
		"policies", "api/v1alpha1", "config", "compiler", "compiler/custom", "compiler/admission", "compiler/admission/kind", "compiler/admission/apiserver", "runtime", "runtime/binding", "runtime/rego", "controller/plan", "controller/simulation", "controller",
		"conformance", "conformance/reports", "conformance/vectors", "conformance/protocol", "internal/catalogue", "internal/input/documents", "internal/evidence", "internal/kube/failure", "internal/input/gathering", "internal/didyoumean", "internal/history", "internal/effective", "internal/input/cluster", "internal/kube/jobdefaults", "internal/kube/jobset", "internal/snapshot", "internal/kube/kubeversion", "internal/kube/podstate", "internal/input/manifest", "internal/testreport", "internal/input/fielddecoder", "internal/kube/restart", "internal/kube/scenarios", "internal/terminal",
	}, avoids: noServer},
}

func TestImportsPointOneWay(t *testing.T) {
	for _, p := range ownPackages(t) {
		r := roomOf(t, p.ImportPath)
		for _, imported := range p.Imports {
			if !within(imported, module) {
				continue
			}
			if target := roomOf(t, imported); target.folder != r.folder && !slices.Contains(r.imports, target.folder) {
				t.Errorf("%s imports %s: %s may import %v of ours", p.ImportPath, imported, r.folder, r.imports)
			}
		}
	}
}

func TestPackagesLinkNothingLarge(t *testing.T) {
	for _, p := range ownPackages(t) {
		r := roomOf(t, p.ImportPath)
		for _, linked := range p.Deps {
			if slices.ContainsFunc(r.avoids, func(path string) bool { return within(linked, path) }) {
				t.Errorf("%s links %s: %s must not", p.ImportPath, linked, r.folder)
			}
		}
	}
}

// TestProgramsHaveTimeZones checks that a rule with a time zone works on systems without time zone files.
func TestProgramsHaveTimeZones(t *testing.T) {
	programs := 0
	for _, p := range ownPackages(t) {
		if path.Dir(p.ImportPath) != module+"/cmd" {
			continue
		}
		programs++
		if !slices.Contains(p.Deps, "time/tzdata") {
			t.Errorf("%s does not link time/tzdata", p.ImportPath)
		}
	}
	if programs != 2 {
		t.Errorf("there are %d programs, want 2", programs)
	}
}

func TestDecisionsDoNoIO(t *testing.T) {
	for _, p := range ownPackages(t) {
		r := roomOf(t, p.ImportPath)
		for _, imported := range p.Imports {
			if slices.ContainsFunc(r.direct, func(path string) bool { return within(imported, path) }) {
				t.Errorf("%s imports %s: packages in %s do no I/O", p.ImportPath, imported, r.folder)
			}
		}
	}
}

func TestRoomsAreFound(t *testing.T) {
	for path, want := range map[string]string{
		module:                                ".",
		module + "/runtime":                   "runtime",
		module + "/runtime/rego":              "runtime/rego",
		module + "/runtime/internal/view":     "runtime",
		module + "/controller/plan":           "controller/plan",
		module + "/cmd/podverdict":            "cmd",
		module + "/cmd/podverdict-controller": "cmd/podverdict-controller",
	} {
		if got := roomOf(t, path).folder; got != want {
			t.Errorf("%s is in room %q, want %q", path, got, want)
		}
	}
	if within("k8s.io/client-gone", "k8s.io/client-go") {
		t.Error("k8s.io/client-gone counts as part of k8s.io/client-go")
	}
}

// listedPackage is the part of go list's output that the tests use.
type listedPackage struct {
	ImportPath string
	Imports    []string // direct imports, without the imports of tests
	Deps       []string // all linked packages
}

// ownPackages returns the root module's packages as listed by go list.
func ownPackages(t *testing.T) []listedPackage {
	t.Helper()
	packages, err := listed()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	if len(packages) < 2 {
		t.Fatalf("go list finds %d packages of %s", len(packages), module)
	}
	return packages
}

var listed = sync.OnceValues(func() ([]listedPackage, error) {
	command := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,Deps", "./...")
	command.Dir = root
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, &stderr)
	}
	var packages []listedPackage
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		if within(p.ImportPath, module) {
			packages = append(packages, p)
		}
	}
})

// roomOf returns the room of a package, which is the longest folder that contains it.
func roomOf(t *testing.T, importPath string) room {
	t.Helper()
	var found room
	for _, r := range rooms {
		if r.folder == "." && importPath == module {
			return r
		}
		if within(importPath, module+"/"+r.folder) && len(r.folder) > len(found.folder) {
			found = r
		}
	}
	if found.folder == "" {
		t.Fatalf("%s is in no room: give it a line in rooms, with what it may import", importPath)
	}
	return found
}

// within reports whether the import path equals the other path or is below it.
func within(importPath, path string) bool {
	return importPath == path || strings.HasPrefix(importPath, path+"/")
}
