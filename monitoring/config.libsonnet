// What differs between clusters. An importing file overrides it: (import 'mixin.libsonnet') + { _config+:: { ... } }.
{
  _config+:: {
    // Selects the controller's own series: kube-controller-manager has metrics of the same names.
    selector: 'job="podverdict-controller"',
    // Failed Jobs of this share of all that end in an hour, and at least this many, are more than single Jobs with defects.
    failedShare: 0.2,
    failedLeast: 5,
    runbook: 'https://github.com/podverdict/podverdict/blob/main/docs/operations.md#',
  },
}
