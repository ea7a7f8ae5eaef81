# METADATA
# scope: package
# title: Operators of onExitCodes
# description: What the operators of a podFailurePolicy's onExitCodes mean (KEP-3329, "JobSpec API").
package podverdict.operators

# METADATA
# description: All operators, in the order of the API server's messages.
all := ["In", "NotIn"]

# METADATA
# description: True when an operator takes an exit code other than 0.
takes("In", code, values) if code in values

takes("NotIn", code, values) if not code in values
