// The monitoring mixin of podverdict: prometheusAlerts and grafanaDashboards.
(import 'config.libsonnet') + (import 'alerts.libsonnet') + (import 'dashboard.libsonnet')
