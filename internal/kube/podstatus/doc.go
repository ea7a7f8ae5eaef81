// Package podstatus writes the status of a Pod in the same way as the components of Kubernetes 1.37.2: the kubelet, the
// scheduler, the controllers that delete Pods, and the API server. It is the only writer of Pod statuses, for scenarios,
// simulated Jobs, generated data and the kubelets of tests. It does no I/O.
//
//	podstatus.Start(pod, started)
//	podstatus.EvictedByAPI.Write(pod, evicted)
//	podstatus.Stop(pod, podstatus.CodeTerminated, ended)
//	podstatus.End(pod, ended)
//
// Functions change the Pod in place. They derive the phase and the conditions from the states of the containers, as the kubelet
// does, and keep the conditions of other components and the times of unchanged conditions. Probes succeed as soon as a container
// runs.
//
// testdata/sources.json names, for each cause, the file and line of Kubernetes that writes each text. Tests compare the statuses
// with this table, and the table with the source of Kubernetes (conformance/upstream).
package podstatus
