// Package charts tests charts/podverdict with Helm 3 and Helm 4, and monitoring with Jsonnet and promtool. It has no code of its own,
// and is a module of its own, so that nobody else links Helm.
//
// The chart's templates read the objects of package config and change what the values say, so that config alone says which rights,
// ports and limits the controller needs. The tests hold what both versions of Helm render equal to config.Objects, for each of its
// options.
package charts

//go:generate go tool jsonnet -S -o ../monitoring/alerts.yaml ../monitoring/alerts.jsonnet
//go:generate go tool jsonnet -S -o ../monitoring/dashboard.json ../monitoring/dashboard.jsonnet
