"""What several measurements share: plans and repetitions, sizes, flows, remarks."""
