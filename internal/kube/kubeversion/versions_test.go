package kubeversion

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// pin is a requirement, or a replacement, of a module that is released together with Kubernetes. The libraries klog,
// gengo, utils and kube-openapi are not; v0.0.0 is replaced.
var pin = regexp.MustCompile(`(?m)\b(k8s\.io/([a-z-]+)) (v[0-9.]+)( // indirect)?$`)

func TestPinsAreTheTable(t *testing.T) {
	for file, atLeast := range map[string]int{"../../../go.mod": 7, "../../../conformance/upstream/go.mod": 40} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pins := 0
		for _, found := range pin.FindAllStringSubmatch(strings.ReplaceAll(string(text), "sigs.k8s.io", ""), -1) {
			name, version := found[2], found[3]
			want := strings.Replace(Pinned, "v1.", "v0.", 1)
			switch {
			case name == "kubernetes":
				want = Pinned
			case name == "klog" || name == "gengo" || name == "utils" || name == "kube-openapi" || version == "v0.0.0":
				continue
			}
			pins++
			if version != want {
				t.Errorf("%s: %s %s, want %s", file, found[1], version, want)
			}
		}
		if pins < atLeast {
			t.Errorf("%s: %d modules of Kubernetes found, want at least %d", file, pins, atLeast)
		}
	}
}
