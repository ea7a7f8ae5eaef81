package admission

import admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

func Check(*admissionregistrationv1.ValidatingAdmissionPolicy, []Kind, string) error { return nil }
