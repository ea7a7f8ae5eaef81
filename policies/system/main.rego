# METADATA
# scope: package
# title: OPA's default decision
# description: |
#   What OPA's server answers to POST /, which is where it looks when no other decision
#   is named: data.system.main, here the AdmissionReview of package podverdict.admission.
package system.main

import data.podverdict.admission

# METADATA
# title: The version of the AdmissionReview
# entrypoint: true
apiVersion := admission.review.apiVersion

# METADATA
# title: AdmissionReview
# entrypoint: true
kind := admission.review.kind

# METADATA
# title: The answer to the request
# entrypoint: true
response := admission.review.response
