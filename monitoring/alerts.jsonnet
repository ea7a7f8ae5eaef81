std.manifestYamlDoc((import 'mixin.libsonnet').prometheusAlerts, indent_array_in_object=false, quote_keys=false)
