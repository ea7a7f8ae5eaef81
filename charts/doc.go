// Package charts tests charts/podverdict with Helm 3 and Helm 4, and monitoring with Jsonnet and Prometheus' own
// engine. It contains only tests, and is a separate module, so that no other module links Helm.
//
// The chart's templates read the objects of package config and apply the values, so that config remains the only
// source of the permissions, ports and limits that the controller needs. The chart contains copies of these files
// instead of links, because Flux omits links from the files that it fetches from a repository. The tests compare the
// output of both versions of Helm with config.Objects, for each of its options.
package charts

//go:generate go tool jsonnet -S -o ../monitoring/alerts.yaml ../monitoring/alerts.jsonnet
//go:generate go tool jsonnet -S -o ../monitoring/dashboard.json ../monitoring/dashboard.jsonnet
//go:generate sh -c "rm -rf podverdict/base podverdict/monitoring && mkdir -p podverdict/base/crd podverdict/monitoring"
//go:generate sh -c "cp ../config/*.yaml podverdict/base && cp ../config/components/nodes/cluster-*.yaml podverdict/base && cp ../config/crd/*.yaml podverdict/base/crd && rm podverdict/base/kustomization.yaml podverdict/base/namespace.yaml"
//go:generate sh -c "cp ../monitoring/alerts.yaml ../monitoring/dashboard.json podverdict/monitoring"
