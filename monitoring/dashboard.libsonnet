// One dashboard for Grafana, from top to bottom: what became of the Jobs, what was decided on their Pods, and how the controller is.
local datasource = { type: 'prometheus', uid: '$datasource' };

local target(index, query) = {
  datasource: datasource,
  refId: std.char(65 + index),
  expr: query[0],
  legendFormat: query[1],
};

local panel(kind, title, description, queries, unit, width) = {
  type: kind,
  title: title,
  description: description,
  datasource: datasource,
  targets: std.mapWithIndex(target, queries),
  fieldConfig: { defaults: { unit: unit, min: 0 }, overrides: [] },
  gridPos:: { w: width, h: 8 },
};

local graph(title, description, queries, unit='short', width=8) =
  panel('timeseries', title, description, queries, unit, width) + {
    options: { legend: { displayMode: 'list', placement: 'bottom', showLegend: true, calcs: [] }, tooltip: { mode: 'multi', sort: 'desc' } },
  };

local number(title, description, query, unit='short', width=4) =
  panel('stat', title, description, [[query, '']], unit, width) + {
    options: { colorMode: 'value', graphMode: 'area', reduceOptions: { calcs: ['lastNotNull'] } },
  };

// Panels follow each other from left to right in rows of 24 columns.
local placed(panels) =
  std.foldl(
    function(sofar, p)
      local wraps = sofar.x + p.gridPos.w > 24;
      local x = if wraps then 0 else sofar.x;
      local y = if wraps then sofar.y + 8 else sofar.y;
      {
        x: x + p.gridPos.w,
        y: y,
        panels: sofar.panels + [p { id: std.length(sofar.panels) + 1, gridPos::: { x: x, y: y, w: p.gridPos.w, h: p.gridPos.h } }],
      },
    panels,
    { x: 0, y: 0, panels: [] },
  ).panels;

local variable(name, label, extra) = { name: name, label: label, hide: 0 } + extra;

{
  local s = $._config.selector,
  local sum(by, metric, matchers='') =
    'sum by (%s) (rate(%s{%s}[$__rate_interval]))' % [by, metric, std.join(', ', std.filter(function(m) m != '', [s, matchers]))],
  local quantile(q) =
    'histogram_quantile(%g, sum by (le) (rate(job_controller_job_sync_duration_seconds_bucket{%s}[$__rate_interval])))' % [q, s],

  grafanaDashboards+:: {
    'podverdict.json': {
      uid: 'podverdict',
      title: 'podverdict',
      description: 'What became of Jobs, what was decided on their failed Pods, and how the controller is.',
      tags: ['podverdict', 'jobs'],
      timezone: 'browser',
      schemaVersion: 39,
      refresh: '1m',
      time: { from: 'now-6h', to: 'now' },
      editable: true,
      templating: {
        list: [variable('datasource', 'Data source', { type: 'datasource', query: 'prometheus' })],
      },
      panels: placed([
        number('Replicas', 'Controllers that Prometheus reaches. One works, the others wait.', 'sum(up{%s})' % s),
        number('Jobs failed', 'Within the time range.', 'sum(increase(job_controller_jobs_finished_total{%s, result="failed"}[$__range]))' % s),
        number('Jobs succeeded', 'Within the time range.', 'sum(increase(job_controller_jobs_finished_total{%s, result="succeeded"}[$__range]))' % s),
        number('Policies not ready', 'PodFailurePolicies that do not compile.', 'max(podverdict_custom_policies{%s, ready="false"})' % s),
        number('Bindings not ready', 'Bindings whose policy is not there or does not compile.', 'max(podverdict_custom_policy_bindings{%s, ready="false"})' % s),
        number('Panics', 'Defects that were caught within the time range.', 'sum(increase(podverdict_panics_total{%s}[$__range]))' % s),

        graph('Jobs that ended', 'Jobs that podverdict runs, by the reason of their last condition.', [[sum('result, reason', 'job_controller_jobs_finished_total'), '{{result}} {{reason}}']]),
        graph('Pods that ended', 'Pods counted in the status of their Job.', [[sum('result', 'job_controller_job_pods_finished_total'), '{{result}}']]),
        graph('Indexes that ended', 'Indexes of Jobs that podverdict runs.', [[sum('status', 'job_controller_job_finished_indexes_total'), '{{status}}']]),

        graph('Verdicts on Jobs that podverdict runs', 'Failed Pods, by the action.', [[sum('action, matched', 'podverdict_verdicts_total', 'mode="manage"'), '{{action}}, rule: {{matched}}']]),
        graph('Verdicts on Jobs that others run', 'Failed Pods, by the action. They are only reported.', [[sum('action, matched', 'podverdict_verdicts_total', 'mode="observe"'), '{{action}}, rule: {{matched}}']]),
        graph('Verdicts of custom rules', 'By policy and rule; audit is what would have been decided.', [[sum('policy, rule, action, mode', 'podverdict_custom_policy_verdicts_total'), '{{policy}}/{{rule}} {{action}} ({{mode}})']]),

        graph('Pods that were ended', 'Living Pods that a rule matched, by policy and rule; audited is what would have been ended.', [[sum('phase, policy, rule, result', 'podverdict_living_pods_total'), '{{policy}}/{{rule}} {{phase}} {{result}}']]),
        graph('Rules that cannot be evaluated', 'Failed Pods, living Pods, and podFailurePolicies that do not compile.', [
          [sum('mode', 'podverdict_verdict_errors_total'), 'verdicts, {{mode}}'],
          [sum('kind', 'podverdict_living_pod_errors_total'), 'living, {{kind}}'],
          ['sum(rate(podverdict_program_compile_errors_total{%s}[$__rate_interval]))' % s, 'do not compile'],
        ]),
        graph('Events', 'Of verdicts, and those that were dropped.', [
          [sum('result', 'podverdict_verdict_events_total'), 'verdicts, {{result}}'],
          ['sum(rate(podverdict_events_dropped_total{%s}[$__rate_interval]))' % s, 'others, dropped'],
        ]),

        graph('Looks at Jobs', 'By their result.', [[sum('result', 'job_controller_job_syncs_total'), '{{result}}']], width=6),
        graph('Time of a look', 'Half and 99 of 100 take no longer.', [[quantile(0.5), 'p50'], [quantile(0.99), 'p99']], unit='s', width=6),
        graph('Calls of the API server', 'By class of the answer.', [[sum('verb, code', 'podverdict_api_calls_total'), '{{verb}} {{code}}']], width=6),
        graph('Memory', 'Resident, and what the process may use.', [
          ['process_resident_memory_bytes{%s}' % s, '{{pod}}'],
          ['min(go_gc_gomemlimit_bytes{%s})' % s, 'limit'],
        ], unit='bytes', width=6),
      ]),
    },
  },
}
