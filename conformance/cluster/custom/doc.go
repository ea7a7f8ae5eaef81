// Package custom proves the examples in examples/custom on a real control plane: their policies are applied as they are, our
// controller runs their Jobs, and pods end as those of the examples have. All of it is tests.
//
// The tests play the kubelet. A pod's end is moved in time as the test needs it: long ago, so that every delay is over, or
// just now, to see one.
package custom
