// Package charts tests charts/podverdict with Helm 3 and Helm 4, and monitoring with Jsonnet and Prometheus' own engine. It has no code of its own,
// and is a module of its own, so that nobody else links Helm.
//
// The chart's templates read the objects of package config and change what the values say, so that config alone says which rights,
// ports and limits the controller needs. The chart has copies of these files, not links to them: Flux leaves links out of what it takes
// from a repository. The tests hold what both versions of Helm render equal to config.Objects, for each of its
// options.
package charts

//go:generate go tool jsonnet -S -o ../monitoring/alerts.yaml ../monitoring/alerts.jsonnet
//go:generate go tool jsonnet -S -o ../monitoring/dashboard.json ../monitoring/dashboard.jsonnet
//go:generate sh -c "rm -rf podverdict/base podverdict/monitoring && mkdir -p podverdict/base/crd podverdict/monitoring"
//go:generate sh -c "cp ../config/*.yaml podverdict/base && cp ../config/components/nodes/cluster-*.yaml podverdict/base && cp ../config/crd/*.yaml podverdict/base/crd && rm podverdict/base/kustomization.yaml podverdict/base/namespace.yaml"
//go:generate sh -c "cp ../monitoring/alerts.yaml ../monitoring/dashboard.json podverdict/monitoring"
