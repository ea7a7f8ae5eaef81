// Package fault runs the Job controller on a real API server while things go wrong: calls fail before and after they took
// effect, watches lag, and the controller is killed at a write, its context or its process. It consists of tests.
//
// The same is done in memory with more patience in package controller, at every write of many scenarios and with thousands
// of random schedules. Here is shown that the real API server gives no other answer. The tests play the kubelet.
package fault
