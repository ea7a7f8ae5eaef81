package kubeversion

import (
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"
)

// pin matches a requirement or a replacement of a module under k8s.io.
var pin = regexp.MustCompile(`(?m)(?:^|\s)(k8s\.io/\S+) (v\S+)(?: // indirect)?$`)

// ownReleases matches modules under k8s.io that are not released together with Kubernetes.
var ownReleases = regexp.MustCompile(`^k8s\.io/(autoscaler|gengo|klog|kube-openapi|utils)(/|$)`)

// otherPins holds the modules that build programs of other projects, with the library versions that these projects require.
var otherPins = map[string]string{
	"conformance/ecosystem/controllers":          "JobSet and Kueue are built with the Kubernetes 1.36 that their go.mod files require",
	"conformance/interop":                        "Gatekeeper is built with the Kubernetes 1.36 that its go.mod file requires",
	"conformance/upstream/cmd/controlplane/kwok": "kwok is built with the Kubernetes 1.36 that its go.mod file requires",
}

// TestPinsAreTheTable compares the Kubernetes libraries in all go.mod files with Pinned.
func TestPinsAreTheTable(t *testing.T) {
	const root = "../../../"
	files, err := exec.Command("git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "go.mod", "*/go.mod").Output()
	if err != nil {
		t.Fatal(err)
	}
	pins, excepted := 0, 0
	for file := range strings.FieldsSeq(string(files)) {
		text, err := os.ReadFile(root + file)
		if err != nil {
			t.Fatal(err)
		}
		found, differing := differingPins(string(text))
		pins += found
		switch {
		case otherPins[path.Dir(file)] == "":
			for _, line := range differing {
				t.Errorf("%s: %s, want the release %s", file, line, Pinned)
			}
		case len(differing) == 0:
			t.Errorf("%s has the release %s: remove it from otherPins", file, Pinned)
		default:
			excepted++
		}
	}
	if excepted < len(otherPins) {
		t.Errorf("otherPins has %d modules, %d of them exist and differ", len(otherPins), excepted)
	}
	if pins < 100 {
		t.Errorf("found %d pins of Kubernetes modules, want at least 100", pins)
	}
}

// differingPins returns the number of Kubernetes modules in a go.mod file, and the modules whose version differs from Pinned.
func differingPins(text string) (pins int, differing []string) {
	for _, found := range pin.FindAllStringSubmatch(text, -1) {
		name, version := found[1], found[2]
		if ownReleases.MatchString(name) || version == "v0.0.0" { // v0.0.0 is replaced
			continue
		}
		pins++
		want := strings.Replace(Pinned, "v1.", "v0.", 1)
		if name == "k8s.io/kubernetes" {
			want = Pinned
		}
		if version != want {
			differing = append(differing, name+" "+version)
		}
	}
	return pins, differing
}

func TestDifferingPins(t *testing.T) {
	current := strings.Replace(Pinned, "v1.", "v0.", 1)
	pins, differing := differingPins(`require (
	k8s.io/api ` + current + `
	k8s.io/client-go v0.1.0 // indirect
	k8s.io/klog/v2 v2.140.0 // indirect
	k8s.io/kubectl v0.0.0
	k8s.io/kubernetes ` + Pinned + `
	sigs.k8s.io/yaml v1.6.0
)
require k8s.io/apiserver v0.2.0-alpha.1
replace k8s.io/kubectl => k8s.io/kubectl v0.3.0
`)
	want := "k8s.io/client-go v0.1.0, k8s.io/apiserver v0.2.0-alpha.1, k8s.io/kubectl v0.3.0"
	if got := strings.Join(differing, ", "); pins != 5 || got != want {
		t.Errorf("got %d pins, differing: %s; want 5, differing: %s", pins, got, want)
	}
}
