// Alerts fire on what is final: a Job or an index that failed, a rule that cannot be evaluated, a controller that does not work. A Pod
// that fails and is replaced is no alert.
local alert(config, name, expr, severity, summary, description, pending='') = {
  alert: name,
  expr: expr,
  [if pending != '' then 'for']: pending,
  labels: { severity: severity },
  annotations: {
    summary: summary,
    description: description,
    runbook_url: config.runbook + std.asciiLower(name),
  },
};

{
  local config = $._config,
  local series(metric, matchers='') =
    '%s{%s}' % [metric, std.join(', ', std.filter(function(s) s != '', [config.selector, matchers]))],
  // By how much a counter rose. A series that is new rose from nothing: increase alone does not see the first failure of its kind.
  local rose(metric, window, matchers='') =
    local s = series(metric, matchers);
    '(increase(%s[%s]) > 0 or %s unless %s offset %s)' % [s, window, s, s, window],
  local share(metric, part) =
    'sum(rate(%s[15m])) / sum(rate(%s[15m]))' % [series(metric, part), series(metric)],

  prometheusAlerts+:: {
    groups+: [
      {
        name: 'podverdict-jobs',
        rules: [
          alert(
            config,
            'PodverdictJobsFailed',
            'sum by (reason) (%s) > 0' % rose('job_controller_jobs_finished_total', '15m', 'result="failed"'),
            'info',
            'Jobs have failed: {{ $labels.reason }}.',
            'About {{ $value | humanize }} Jobs that podverdict runs have failed within 15 minutes, for the reason {{ $labels.reason }}.',
          ),
          alert(
            config,
            'PodverdictManyJobsFailed',
            |||
              sum(%s) >= %d
              and
              sum(%s) / sum(%s) > %g
            ||| % [
              rose('job_controller_jobs_finished_total', '1h', 'result="failed"'),
              config.failedLeast,
              rose('job_controller_jobs_finished_total', '1h', 'result="failed"'),
              rose('job_controller_jobs_finished_total', '1h'),
              config.failedShare,
            ],
            'warning',
            'Many Jobs fail.',
            '{{ $value | humanize }} Jobs that podverdict runs have failed within the hour, more than %g %% of those that ended.' % (100 * config.failedShare),
          ),
          alert(
            config,
            'PodverdictIndexesFailed',
            'sum(%s) > 0' % rose('job_controller_job_finished_indexes_total', '15m', 'status="failed"'),
            'info',
            'Indexes of Jobs have failed.',
            'About {{ $value | humanize }} indexes of Jobs that podverdict runs have failed within 15 minutes. The other indexes go on.',
          ),
          alert(
            config,
            'PodverdictRuleFailsJobs',
            'sum(%s) > 0' % rose('podverdict_verdicts_total', '15m', 'mode="observe", action="FailJob", matched="true"'),
            'info',
            'Rules fail Jobs that Kubernetes runs.',
            'Rules of the podFailurePolicy have failed Jobs that podverdict observes, by {{ $value | humanize }} Pods within 15 minutes.',
          ),
        ],
      },
      {
        name: 'podverdict-rules',
        rules: [
          alert(
            config,
            'PodverdictPolicyNotReady',
            'max(%s) > 0' % series('podverdict_custom_policies', 'ready="false"'),
            'warning',
            'A PodFailurePolicy does not compile.',
            '{{ $value }} PodFailurePolicies do not compile. Their last good version stays in force if they had one.',
            '15m',
          ),
          alert(
            config,
            'PodverdictBindingNotReady',
            'max(%s) > 0' % series('podverdict_custom_policy_bindings', 'ready="false"'),
            'warning',
            'A PodFailurePolicyBinding has no policy that compiles.',
            '{{ $value }} bindings name a PodFailurePolicy that is not there or does not compile.',
            '15m',
          ),
          alert(
            config,
            'PodverdictRuleErrors',
            'sum(%s) > 0' % std.join(' or ', [
              rose('podverdict_verdict_errors_total', '15m'),
              rose('podverdict_living_pod_errors_total', '15m', 'kind="rule"'),
              rose('podverdict_program_compile_errors_total', '15m'),
            ]),
            'warning',
            'Rules cannot be evaluated.',
            'Rules could not be compiled or evaluated to the end {{ $value | humanize }} times within 15 minutes. Such a failure counts against the limits.',
          ),
        ],
      },
      {
        name: 'podverdict-controller',
        rules: [
          alert(
            config,
            'PodverdictControllerDown',
            'absent(up{%s} == 1)' % config.selector,
            'critical',
            'No controller of podverdict can be reached.',
            'Prometheus has not reached any replica for 10 minutes. Jobs that podverdict runs stand still: failed Pods are not replaced.',
            '10m',
          ),
          alert(
            config,
            'PodverdictPanics',
            'sum by (activity) (%s) > 0' % rose('podverdict_panics_total', '15m'),
            'critical',
            'The controller of podverdict has a defect.',
            'A panic was caught while it worked on {{ $labels.activity }}. What it worked on is tried again, other Jobs go on.',
          ),
          alert(
            config,
            'PodverdictSyncErrors',
            '%s > 0.1' % share('job_controller_job_syncs_total', 'result="error"'),
            'warning',
            'The controller of podverdict fails at many Jobs.',
            '{{ $value | humanizePercentage }} of the looks at Jobs have ended with an error for 15 minutes.',
            '15m',
          ),
          alert(
            config,
            'PodverdictAPIErrors',
            '%s > 0.1' % share('podverdict_api_calls_total', 'code=~"5xx|error"'),
            'warning',
            'The API server does not answer the controller of podverdict.',
            '{{ $value | humanizePercentage }} of the calls of the API server have failed for 15 minutes.',
            '15m',
          ),
          alert(
            config,
            'PodverdictEventsDropped',
            'sum(%s) > 0' % std.join(' or ', [
              rose('podverdict_events_dropped_total', '1h'),
              rose('podverdict_verdict_events_total', '1h', 'result="dropped"'),
            ]),
            'info',
            'Events about Jobs and Pods were dropped.',
            '{{ $value | humanize }} events were dropped within the hour. Verdicts took effect all the same.',
          ),
          alert(
            config,
            'PodverdictMemoryShort',
            'max(process_resident_memory_bytes{%s} / go_gc_gomemlimit_bytes{%s}) > 0.95' % [config.selector, config.selector],
            'warning',
            'The controller of podverdict is short of memory.',
            'It has used {{ $value | humanizePercentage }} of the memory that it may use for 15 minutes.',
            '15m',
          ),
        ],
      },
    ],
  },
}
