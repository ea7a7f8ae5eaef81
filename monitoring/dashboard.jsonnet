std.manifestJsonEx((import 'mixin.libsonnet').grafanaDashboards['podverdict.json'], '  ')
