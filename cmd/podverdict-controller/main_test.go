package main

import (
	"bytes"
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// If the program cannot start, it reports the invalid flag on stderr and exits with 2.
func TestWrongFlags(t *testing.T) {
	kubeconfig := writeKubeconfig(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for arguments, want := range map[string]string{
		"--kube-api-qps=0":                     `--kube-api-qps "0": must not be 0`,
		"--kube-api-burst=0":                   `--kube-api-burst "0": must be more than 0`,
		"--namespace=A":                        `--namespace "A": must be the name of a namespace`,
		"--concurrent-job-syncs=-1":            `--concurrent-job-syncs "-1": must be more than 0`,
		"--job-batch-period=0s":                `--job-batch-period "0s": must be more than 0`,
		"--living-period=0s":                   `--living-period "0s": must be more than 0`,
		"--lost-pod-period=0s":                 `--lost-pod-period "0s": must be more than 0`,
		"--pod-failure-backoff=0s":             `--pod-failure-backoff "0s": must be more than 0`,
		"--pod-failure-max-backoff=9s":         `--pod-failure-max-backoff "9s": must not be less than --pod-failure-backoff`,
		"--max-held-pods=0":                    `--max-held-pods "0": must be more than 0`,
		"--leader-elect-resource-namespace=":   `--leader-elect-resource-namespace "": must be the name of a namespace`,
		"--leader-elect-resource-name=":        `--leader-elect-resource-name "": must be the name of an object`,
		"--leader-elect-lease-duration=100ms":  `--leader-elect-lease-duration "100ms": must be whole seconds`,
		"--leader-elect-lease-duration=1500ms": `--leader-elect-lease-duration "1.5s": must be whole seconds`,
		"--leader-elect-retry-period=0s":       `--leader-elect-retry-period "0s": must be more than 0`,
		"--leader-elect-renew-deadline=2s":     `--leader-elect-renew-deadline "2s": must be longer than 1.2 times`,
		"--leader-elect-renew-deadline=15s":    `--leader-elect-renew-deadline "15s": must be shorter than`,
		"--observe-only --observe=false":       `--observe "false": leaves nothing to do with --observe-only`,
		"--tls-cert-file=a":                    `--tls-private-key-file "": must be given with --tls-cert-file`,
		"--tls-private-key-file=a":             `--tls-private-key-file "a": must be given with --tls-cert-file`,
		"--metrics-bind-address=:8081":         `--metrics-bind-address ":8081": must not be that of --health-bind-address`,
		"--leader-elect=maybe":                 `invalid argument "maybe" for "--leader-elect" flag`,
		"--logging-format=xml":                 `invalid argument "xml" for "--logging-format" flag: there are text, json`,
		"-v=much":                              `invalid argument "much" for "-v, --v" flag`,
		"--nothing":                            `unknown flag: --nothing`,
		"jobs":                                 `unknown command "jobs"`,
		"":                                     `there is no --kubeconfig, and no service account of a pod`,
		"--kubeconfig=absent":                  `--kubeconfig "absent": stat absent: no such file`,
		"--kubeconfig=" + kubeconfig + " --health-bind-address= --tls-cert-file=absent --tls-private-key-file=absent":            `--tls-cert-file "absent": open absent: no such file`,
		"--kubeconfig=" + kubeconfig + " --kubernetes=1.2":                                                                       `1.2`,
		"--kubeconfig=" + kubeconfig + " --health-bind-address=" + taken.Addr().String():                                         `--health-bind-address: listen tcp`,
		"--kubeconfig=" + kubeconfig + " --health-bind-address= --metrics-bind-address=nowhere":                                  `--metrics-bind-address: listen tcp: address nowhere`,
		"--kubeconfig=" + kubeconfig + " --leader-elect=false --leader-elect-lease-duration=1ms --health-bind-address=127.0.0.1": `--health-bind-address: listen tcp`,
	} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), strings.Fields(arguments), &stdout, &stderr)
		if code != exitUsage || stdout.Len() > 0 || !strings.HasPrefix(stderr.String(), "error: ") || !strings.Contains(stderr.String(), want) {
			t.Errorf("%q: exit code %d, want %q:\n%s%s", arguments, code, want, stdout.String(), stderr.String())
		}
	}
}

func TestVersionAndHelp(t *testing.T) {
	for argument, want := range map[string]string{"--version": "podverdict-controller version ", "--help": "--leader-elect-lease-duration"} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), []string{argument}, &stdout, &stderr); code != exitFine || !strings.Contains(stdout.String(), want) || stderr.Len() > 0 {
			t.Errorf("%s: exit code %d\n%s%s", argument, code, stdout.String(), stderr.String())
		}
	}
}

// A replica that is stopped before it has started ends without calling an API server.
func TestStops(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, elect := range []string{"true", "false"} {
		var stdout, stderr bytes.Buffer
		code := run(ctx, []string{
			"--kubeconfig=" + writeKubeconfig(t), "--leader-elect=" + elect,
			"--health-bind-address=127.0.0.1:0", "--metrics-bind-address=localhost:0",
		}, &stdout, &stderr)
		if code != exitFine || stderr.Len() > 0 {
			t.Errorf("--leader-elect=%s: exit code %d\n%s", elect, code, stderr.String())
		}
	}
}

// writeKubeconfig writes the kubeconfig of an API server that does not exist.
func writeKubeconfig(t *testing.T) string {
	t.Helper()
	c := clientcmdapi.NewConfig()
	c.Clusters["it"] = &clientcmdapi.Cluster{Server: "https://127.0.0.1:1"}
	c.Contexts["it"] = &clientcmdapi.Context{Cluster: "it"}
	c.CurrentContext = "it"
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*c, file); err != nil {
		t.Fatal(err)
	}
	return file
}
