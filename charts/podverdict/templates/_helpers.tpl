{{/* The labels that Helm's conventions add to those of the base. */}}
{{- define "podverdict.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{/* The name of the controller's objects. */}}
{{- define "podverdict.name" -}}
podverdict-controller{{ .Values.nameSuffix }}
{{- end }}

{{/*
An object of the base with the names, the namespace and the labels of the release: the base, which kustomize uses too, is the only
place that says what the controller needs. Takes a list of the root and the name of the file.
*/}}
{{- define "podverdict.object" -}}
{{- $root := index . 0 }}
{{- $object := $root.Files.Get (printf "base/%s.yaml" (index . 1)) | fromYaml }}
{{- $suffix := $root.Values.nameSuffix }}
{{- $metadata := $object.metadata }}
{{- $_ := set $metadata "labels" (merge (include "podverdict.labels" $root | fromYaml) ($metadata.labels | default dict)) }}
{{- if ne $object.kind "CustomResourceDefinition" }}
{{- $_ := set $metadata "name" (print $metadata.name $suffix) }}
{{- end }}
{{- if has $object.kind (list "Deployment" "NetworkPolicy" "PodDisruptionBudget" "Role" "RoleBinding" "ServiceAccount") }}
{{- $_ := set $metadata "namespace" $root.Release.Namespace }}
{{- end }}
{{- range $object.subjects }}
{{- $_ := set . "name" (print .name $suffix) }}
{{- $_ := set . "namespace" $root.Release.Namespace }}
{{- end }}
{{- with $object.roleRef }}
{{- $_ := set . "name" (print .name $suffix) }}
{{- end }}
{{- toYaml $object }}
{{- end }}
