// Package history kills the controller again and again while Pods fail, and reads afterwards what it has kept: the verdict on every Pod
// and every Job that has finished, each once, in files that have never had more than their bound. It has only tests.
//
// Half of the Pods are of Jobs that the controller runs. For the others, the test is the Job controller.
package history
