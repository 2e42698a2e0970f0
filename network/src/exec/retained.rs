//! Commands recorded once and replayed: the retained routes on a device.

use std::any::Any;
use std::sync::Arc;

use gpu::{CommandBuffer, Device};

use super::ExecError;
use crate::replay::ReplayRoute;

/// Recordings of a frame's retained part, one per history parity.
///
/// Recorded commands do not keep alive what they refer to, so this does: whatever [`Retained::record`] is given stays at
/// its address until the recordings are gone. Fields are dropped in order, the recordings first.
pub struct Retained {
    route: ReplayRoute,
    recordings: [CommandBuffer; 2],
    _keep: Vec<Arc<dyn Any + Send + Sync>>,
}

impl Retained {
    /// Records both parities by `record`, which is given the command buffer and the parity. `keep` is everything that the
    /// commands refer to.
    ///
    /// # Errors
    /// A mistake in the recording, or an error of the device.
    ///
    /// # Panics
    /// When the route is the direct one, which retains nothing.
    pub fn record(
        device: &Arc<Device>,
        route: ReplayRoute,
        keep: Vec<Arc<dyn Any + Send + Sync>>,
        mut record: impl FnMut(&mut CommandBuffer, usize),
    ) -> Result<Self, ExecError> {
        assert!(route.is_retained(), "the direct route retains nothing");
        let mut recording = |parity: usize| -> Result<CommandBuffer, ExecError> {
            let name = format!("retained frame, parity {parity}");
            let mut cmd = match route {
                ReplayRoute::Secondary => CommandBuffer::secondary(device, &name)?,
                ReplayRoute::Generated => CommandBuffer::generated(device, &name)?,
                _ => CommandBuffer::new(device, &name)?,
            };
            cmd.begin()?;
            record(&mut cmd, parity);
            cmd.end()?;
            Ok(cmd)
        };
        let recordings = [recording(0)?, recording(1)?];
        Ok(Self { route, recordings, _keep: keep })
    }

    /// How the recordings reach the device.
    pub fn route(&self) -> ReplayRoute {
        self.route
    }

    /// The recording of a parity: to be executed by a primary command buffer, or submitted as it is.
    pub fn recording(&self, parity: usize) -> &CommandBuffer {
        &self.recordings[parity]
    }
}

#[cfg(test)]
mod tests {
    use gpu::testing::TestDevice;

    use super::super::{Kernels, Network, NetworkOptions, Route, Tuning, Weights};
    use super::*;
    use crate::geometry::{Extent, Geometry};
    use crate::model::synth::{self, Preset};
    use crate::plan::Plan;

    /// A network of the first operations alone, which even a slow device runs in milliseconds.
    fn beginning(device: &TestDevice, ops: usize) -> Network {
        let model = synth::generate(Preset::Lively, 3).unwrap();
        let kernels = Kernels::with_tuning(device, Route::Exact, Tuning::of(device)).unwrap();
        let weights = Weights::upload(device, &model).unwrap();
        let mut plan = Plan::new(&Geometry::new(Extent::new(64, 64)).unwrap());
        plan.ops.truncate(ops);
        Network::new(device, &kernels, &weights, Arc::new(plan), NetworkOptions::default()).unwrap()
    }

    #[test]
    fn many_replays_of_both_forms_give_the_bytes_of_direct_frames() {
        let device = TestDevice::open().unwrap();
        let network = beginning(&device, 3);
        let plan = Arc::clone(network.plan());
        let output = plan.ops.last().unwrap().kind.outputs()[0];
        let steps = network.steps();
        let mut routes = vec![ReplayRoute::Secondary, ReplayRoute::Primary];
        routes.extend(device.caps().device_generated_commands.then_some(ReplayRoute::Generated));
        let retained: Vec<Retained> = routes
            .into_iter()
            .map(|route| {
                Retained::record(&device, route, vec![network.objects()], |cmd, _| network.record(cmd, 0..steps))
                    .unwrap()
            })
            .collect();
        let mut primary = CommandBuffer::new(&device, "frame").unwrap();
        let mut seen = std::collections::BTreeSet::new();
        for frame in 0..8u32 {
            let features: Vec<u8> = (0..plan.tensor(plan.features).bytes() as u32 / 2)
                .flat_map(|i| {
                    (0x3000u16 + (i.wrapping_mul(2_654_435_761).wrapping_add(frame * 977) >> 21) as u16).to_le_bytes()
                })
                .collect();
            let mut run = |retained: Option<&Retained>| {
                network.write_tensor(plan.features, &features).unwrap();
                match retained {
                    None => network.run(u64::MAX).unwrap(),
                    Some(retained) => {
                        let recording = retained.recording(frame as usize % 2);
                        assert_eq!(recording.dispatches(), steps as u64);
                        let generated = if retained.route() == ReplayRoute::Generated { steps as u64 } else { 0 };
                        assert_eq!(recording.generated_dispatches(), generated);
                        let ticket = if retained.route() == ReplayRoute::Secondary {
                            primary.begin().unwrap();
                            primary.execute(recording);
                            assert_eq!(primary.dispatches(), steps as u64);
                            primary.end().unwrap();
                            device.submit(&[&primary], &[], &[]).unwrap()
                        } else {
                            device.submit(&[recording], &[], &[]).unwrap()
                        };
                        device.wait(ticket, std::time::Duration::from_secs(60)).unwrap();
                    }
                }
                network.read_tensor(output).unwrap()
            };
            let direct = run(None);
            for retained in &retained {
                assert!(run(Some(retained)) == direct, "frame {frame} {}", retained.route());
            }
            seen.insert(direct);
        }
        assert_eq!(seen.len(), 8, "the frames do not differ");
        assert_eq!(network.check_guards().unwrap().1, Vec::<String>::new());
    }

    #[test]
    fn a_device_that_generates_no_commands_says_so() {
        let device = TestDevice::open().unwrap();
        if device.caps().device_generated_commands {
            return; // the test above replays them
        }
        let refused = Retained::record(&device, ReplayRoute::Generated, Vec::new(), |_, _| {});
        let message = refused.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(message.contains("VK_EXT_device_generated_commands"), "{message}");
    }

    #[test]
    fn what_a_recording_refers_to_outlives_the_network() {
        let device = TestDevice::open().unwrap();
        let network = beginning(&device, 3);
        let steps = network.steps();
        let retained = Retained::record(&device, ReplayRoute::Primary, vec![network.objects()], |cmd, _| {
            network.record(cmd, 0..steps);
        })
        .unwrap();
        drop(network);
        let alive = || device.live_objects().iter().any(|object| object.name == "network activations 0");
        assert!(alive());
        let ticket = device.submit(&[retained.recording(1)], &[], &[]).unwrap();
        device.wait(ticket, std::time::Duration::from_secs(60)).unwrap();
        drop(retained);
        assert!(!alive());
    }

    #[test]
    fn a_recording_that_cannot_be_made_is_an_error() {
        let device = TestDevice::open().unwrap();
        let failed = Retained::record(&device, ReplayRoute::Secondary, Vec::new(), |cmd, _| cmd.label_end());
        assert!(failed.is_err());
        let secondary = CommandBuffer::secondary(&device, "unrecorded").unwrap();
        let mut primary = CommandBuffer::new(&device, "frame").unwrap();
        primary.begin().unwrap();
        primary.execute(&secondary);
        assert!(primary.end().is_err_and(|error| error.to_string().contains("recorded secondary")));
        assert!(device.submit(&[&secondary], &[], &[]).is_err());
    }
}
