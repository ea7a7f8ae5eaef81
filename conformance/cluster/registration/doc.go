// Package registration holds what is checked and what is generated in compiler/admission
// to a real API server that is given the policies, and to its type checking, which is the
// controller manager's: all of it is tests.
//
// It has a control plane of its own: in that of package cluster there is no controller
// that changes the Jobs which the vectors are about.
package registration
