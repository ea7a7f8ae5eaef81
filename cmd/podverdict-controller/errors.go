package main

import (
	"errors"
	"fmt"
)

const (
	positive = "must be more than 0"
	noLabel  = "must be the name of a namespace"
)

func errUsage(err error) error { return fmt.Errorf("%w\nsee podverdict-controller --help", err) }

func errFlag(name string, value any, message string) error {
	return fmt.Errorf("--%s %q: %s", name, fmt.Sprint(value), message)
}

func errKubeconfig(file string, err error) error {
	return fmt.Errorf("--kubeconfig %q: %w", file, err)
}

func errNotInCluster(err error) error {
	return fmt.Errorf("there is no --kubeconfig, and no service account of a pod: %w", err)
}

var errFormat = errors.New("there are text, json")

func errListen(flag string, err error) error { return fmt.Errorf("--%s: %w", flag, err) }

func errCertificate(file string, err error) error {
	return fmt.Errorf("--tls-cert-file %q: %w", file, err)
}

func errHistory(err error) error { return fmt.Errorf("--history: %w", err) }
