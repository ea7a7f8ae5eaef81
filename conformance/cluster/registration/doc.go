// Package registration compares the checks and the generated policies of compiler/admission with a real API server that
// stores the policies, and with their type checking by kube-controller-manager. It has only tests.
//
// It uses its own control plane: the one of package cluster has no controllers, because they would change the vectors' Jobs.
package registration
