//! Seeded faults on the command line: they try the search for the operation that is to blame.

use anyhow::{Result, bail};
use network::bisect::Fault;
use network::plan::{OpId, Plan};

/// The hidden option of the commands that run the network.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct FaultArgs {
    /// Flip a bit of one result: FRAME:OPERATION[:ELEMENT], such as 2:b5.qkv:100.
    #[arg(long, value_name = "FRAME:OP[:ELEMENT]", hide = true)]
    fault: Vec<String>,
}

/// Faults by frame.
pub struct Faults(Vec<(u32, Fault)>);

impl FaultArgs {
    /// The faults, for a plan.
    ///
    /// # Errors
    /// Not of that form, or no such operation.
    pub fn of(&self, plan: &Plan) -> Result<Faults> {
        Ok(Faults(self.fault.iter().map(|text| parse(text, plan)).collect::<Result<_>>()?))
    }
}

impl Faults {
    /// Those of one frame.
    pub fn of_frame(&self, frame: u32) -> Vec<Fault> {
        self.0.iter().filter(|(number, _)| *number == frame).map(|(_, fault)| *fault).collect()
    }
}

fn parse(text: &str, plan: &Plan) -> Result<(u32, Fault)> {
    let mut parts = text.split(':');
    let (Some(Ok(frame)), Some(label)) = (parts.next().map(str::parse), parts.next()) else {
        bail!("{} is no fault; write FRAME:OPERATION[:ELEMENT]", messages::quoted(text));
    };
    let element = parts.next().map_or(Ok(0), str::parse)?;
    let Some(op) = plan.ops.iter().position(|op| op.label == label) else {
        bail!("there is no operation {label}");
    };
    // A high bit of the exponent, which later roundings do not swallow.
    Ok((frame, Fault { op: OpId(u32::try_from(op)?), output: 0, element, bit: 14 }))
}
